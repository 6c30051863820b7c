// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
)

// axeFile is the checker of accessibility, which the Makefile installs. The page does not contain it.
const axeFile = "../../../e2e/accessibility/node_modules/axe-core/axe.min.js"

func axe(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(axeFile)
	if os.IsNotExist(err) && os.Getenv("CI") == "" {
		t.Skip("ACCESSIBILITY WAS NOT TESTED: axe-core is missing; run make e2e/accessibility/node_modules/.installed")
	}
	require.NoError(t, err)
	return string(source)
}

// violations runs all rules of WCAG 2.2 A and AA and the best practices over what is on the screen. Each is one line with its element.
func violations(p *browser.Page) []string {
	p.Painted()
	return browser.Eval[[]string](p, `axe.run(document, {
		resultTypes: ["violations"],
		runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
	}).then(({violations}) => violations.flatMap(({id, nodes}) => nodes.slice(0, 5).map(({target, failureSummary, html}) =>
		id + ": " + target.join(" ") + ": " + failureSummary.replace(/\s+/g, " ") + " " + html.slice(0, 200))))`)
}

// screens are all tabs and what opens above them. Each is prepared from the one before it.
var screens = []struct {
	name string
	open func(p *browser.Page)
}{
	{"incidents", tab("incidents", `document.querySelector("main .incident, main .empty-state")`)},
	{"requests", tab("requests", `document.querySelector("main tbody tr, main .sample")`)},
	{"threads", func(p *browser.Page) {
		p.Click("#tab-threads")
		settled(p)
	}},
	{"interval", func(p *browser.Page) {
		browser.Eval[any](p, "void document.activeElement.blur()")
		p.Press(kb.ArrowRight)
		p.Until(`document.querySelector(".detail")`)
	}},
	{"filter", func(p *browser.Page) {
		p.ClickText(".toolbar button", "Threads: all")
		p.Until(`document.querySelector("dialog[open] tbody tr")`)
	}},
	{"help", func(p *browser.Page) {
		p.Press("\x1b")
		p.Until(`!document.querySelector("dialog")`)
		p.Press("?")
		p.Until(`document.querySelector("dialog[open]")`)
	}},
	{"locks", func(p *browser.Page) {
		p.Press("\x1b")
		p.Until(`!document.querySelector("dialog")`)
		tab("locks", `document.querySelector("main .name, main .empty-state")`)(p)
	}},
	{"flame", tab("flame", `document.querySelector("main .flame .plane, main .empty-state")`)},
	{"monitors", tab("monitors", `document.querySelector("main tbody tr")`)},
	{"path", tab("path", `document.querySelector("main tbody tr, main .empty-state")`)},
	{"log", tab("log", `document.querySelector("main .line, main .empty-state, main .hint")`)},
	{"sessions", tab("sessions", `document.querySelector("main tbody tr")`)},
	{"downloads", func(p *browser.Page) {
		p.Click("[title='Download this session']")
		p.Until(`document.querySelector(".popup")`)
	}},
}

func tab(name, ready string) func(*browser.Page) {
	return func(p *browser.Page) {
		p.Click("#tab-" + name)
		p.Until(ready)
	}
}

// Nothing on the page violates the guidelines for accessibility, in either theme, on a screen or on a phone.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	source := axe(t)
	for session, id := range map[string]string{"finished": finished, "locks": locks, "deadlocked": deadlocked, "requests": requests} {
		for _, dark := range []bool{false, true} {
			for _, window := range []browser.Window{{Width: 1280, Height: 800}, {Width: 390, Height: 844}} {
				window.Dark = dark
				t.Run(fmt.Sprintf("%s,dark=%v,%d", session, dark, window.Width), func(t *testing.T) {
					t.Parallel()
					p := openWindow(t, "s="+id, window)
					answered(p)
					browser.Eval[any](p, source+"\n;void 0")
					for _, screen := range screens {
						screen.open(p)
						assert.Empty(t, strings.Join(violations(p), "\n"), screen.name)
						assert.LessOrEqual(t, browser.Eval[int](p, "document.documentElement.scrollWidth"), int(window.Width), "%s scrolls to the side", screen.name)
					}
				})
			}
		}
	}
}

// Neither does the page without sessions; it lists who was refused.
func TestAccessibilityOfTheFirstMinute(t *testing.T) {
	t.Parallel()
	source := axe(t)
	s := serve(t, "-empty")
	for _, window := range []browser.Window{{Width: 1280, Height: 800}, {Width: 1280, Height: 800, Dark: true}, {Width: 390, Height: 844}, {Width: 390, Height: 844, Dark: true}} {
		p := chromium(t).Open(t, s.address, window)
		p.Until(`document.querySelectorAll(".welcome .refused li").length === 2`)
		browser.Eval[any](p, source+"\n;void 0")
		assert.Empty(t, strings.Join(violations(p), "\n"))
		assert.LessOrEqual(t, browser.Eval[int](p, "document.documentElement.scrollWidth"), int(window.Width))
		p.Close()
	}
}
