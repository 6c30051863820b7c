// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// tries is how often a click is repeated if its element moves, as it may while the page loads.
const tries = 100

// Click clicks the center of the first element that matches a selector. If another element covers it or has taken its place, that element does not get
// the click, and the click is repeated.
func (p *Page) Click(selector string, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	for range tries {
		at := p.Center(selector)
		Eval[any](p, fmt.Sprintf(aim, selector))
		p.ClickAt(at, modifiers...)
		if Eval[bool](p, "testAim.end()") {
			return
		}
	}
	p.must(fmt.Errorf("missed the element %d times", tries), selector)
}

// aim intercepts a click that misses the element; testAim.end reports whether it hit.
const aim = `void (() => {
	const element = document.querySelector(%q), types = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"];
	let hit = false;
	const guard = (event) => {
		hit ||= element !== null && element.contains(event.target);
		if (!hit) { event.stopImmediatePropagation(); event.preventDefault(); }
	};
	for (const type of types) addEventListener(type, guard, true);
	window.testAim = { end: () => { for (const type of types) removeEventListener(type, guard, true); return hit; } };
})()`

// ClickText clicks the first element that matches a selector and starts with a text.
func (p *Page) ClickText(selector, text string, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	found := fmt.Sprintf("[...document.querySelectorAll(%q)].find((e) => e.innerText.trim().startsWith(%q))", selector, text)
	p.Until(found)
	Eval[any](p, "void ("+found+`).setAttribute("data-test", "here")`)
	p.Click("[data-test=here]", modifiers...)
	Eval[any](p, `void document.querySelector("[data-test=here]")?.removeAttribute("data-test")`)
}

// ClickAt clicks a point.
func (p *Page) ClickAt(at Point, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	options := []chromedp.MouseOption{chromedp.ButtonLeft, chromedp.ClickCount(1), chromedp.ButtonModifiers(modifiers...)}
	p.Do(
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at.X, at.Y),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, at.X, at.Y, options...),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, at.X, at.Y, options...),
	)
}

// Drag presses the button, moves the pointer in steps, and releases the button.
func (p *Page) Drag(from, to Point, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	const steps = 8
	with := []chromedp.MouseOption{chromedp.ButtonLeft, chromedp.ButtonModifiers(modifiers...)}
	p.Do(
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, from.X, from.Y),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, from.X, from.Y, append(with, chromedp.ClickCount(1))...),
	)
	for i := 1; i <= steps; i++ {
		x, y := from.X+(to.X-from.X)*float64(i)/steps, from.Y+(to.Y-from.Y)*float64(i)/steps
		p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y, with...))
	}
	p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, to.X, to.Y, append(with, chromedp.ClickCount(1))...))
}

// Hover moves the pointer to a point.
func (p *Page) Hover(at Point) {
	p.t.Helper()
	p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at.X, at.Y))
}

// Wheel turns the wheel at a point.
func (p *Page) Wheel(at Point, dx, dy float64, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	p.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseWheel, at.X, at.Y, chromedp.ButtonModifiers(modifiers...), func(e *input.DispatchMouseEventParams) {
		// A zero would not be sent, but the browser requires both fields.
		e.DeltaX, e.DeltaY = cmp.Or(dx, 1e-9), cmp.Or(dy, 1e-9)
	}))
}

// Press presses keys in order. As for a user, one event is both the key and its character: a page that prevents the default action of the key does not
// get the character, and the browser does not act on it. (chromedp.KeyEvent sends the character on its own, to whatever has the focus by then.)
func (p *Page) Press(keys string, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	for _, key := range keys {
		events := kb.Encode(key)
		down, up := events[0], events[len(events)-1]
		for _, modifier := range modifiers {
			down.Modifiers |= int64(modifier)
			up.Modifiers |= int64(modifier)
		}
		if types := down.Modifiers&^int64(chromedp.ModifierShift) == 0; types && len(events) == 3 {
			down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		for _, event := range []*input.DispatchKeyEventParams{down, up} {
			p.Do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
				_, err := cdp.Call(ctx, tab, input.DispatchKeyEvent, *event)
				return err
			}))
		}
	}
}

// Type replaces the text of a field.
func (p *Page) Type(selector, text string) {
	p.t.Helper()
	p.Click(selector)
	p.Press("a", chromedp.ModifierCtrl)
	p.Press(text)
}

// Choose selects an option of a select element by its value.
func (p *Page) Choose(selector, value string) {
	p.t.Helper()
	Eval[any](p, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.value = %q; e.dispatchEvent(new Event("change", {bubbles: true})); })()`, selector, value))
}

// Screenshot writes a screenshot of the window to a file.
func (p *Page) Screenshot(path string) {
	p.t.Helper()
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(path, picture, 0o600))
}
