// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package browser answers: what does a person see and do who opens the page? It drives a headless Chromium; tests import it, and nothing else.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Patience is for what takes well under a second when nothing is wrong, on a machine that has much else to do.
const Patience = 10 * time.Minute

// Browser is a running Chromium.
type Browser struct {
	ctx context.Context //nolint:containedctx // chromedp keeps a browser in its context
}

// Start starts a Chromium that ends with the test, with more flags. It is installed if that is possible.
func Start(t testing.TB, flags ...string) *Browser {
	t.Helper()
	b, end, err := Launch(flags...)
	if errors.Is(err, ErrMissing) && os.Getenv("CI") == "" {
		t.Skipf("NOTHING WAS TESTED IN A BROWSER: %v", err)
	}
	require.NoError(t, err)
	t.Cleanup(end)
	return b
}

// ErrMissing says that there is no Chromium, and that none can be had.
var ErrMissing = errors.New("no Chromium")

// Launch starts a Chromium for who ends it.
func Launch(flags ...string) (b *Browser, end func(), err error) {
	path, err := install()
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-gpu", true),
		chromedp.WSURLReadTimeout(Patience))
	for _, flag := range flags {
		options = append(options, chromedp.Flag(flag, true))
	}
	ctx, endProcess := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, endBrowser := chromedp.NewContext(ctx)
	end = func() {
		endBrowser()
		endProcess()
	}
	if err := chromedp.Do(ctx); err != nil {
		end()
		return nil, nil, err
	}
	return &Browser{ctx: ctx}, end, nil
}

// CPU returns the processor time that all processes of the browser have used.
func (b *Browser) CPU(t testing.TB) time.Duration {
	t.Helper()
	info, err := chromedp.CallBrowser(b.ctx, systeminfo.GetProcessInfo, cdp.Empty{})
	require.NoError(t, err)
	var seconds float64
	for _, process := range info.ProcessInfo {
		seconds += process.CPUTime
	}
	return time.Duration(seconds * float64(time.Second))
}

// install returns Chromium's path.
func install() (string, error) {
	_, here, _, _ := runtime.Caller(0)
	need := filepath.Join(filepath.Dir(here), "..", "..", "scripts", "need.sh")
	if out, err := exec.Command(need, "chromium").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", ErrMissing, out)
	}
	return exec.LookPath("chromium")
}

// Page is a tab.
type Page struct {
	t   testing.TB
	ctx context.Context //nolint:containedctx // chromedp keeps a tab in its context

	close func()

	mu       sync.Mutex
	problems []string
	expected []string
}

// Close closes the tab; the end of the test does so, too.
func (p *Page) Close() { p.close() }

// Window is how a page is looked at; the zero value is 1280×800 in light colours.
type Window struct {
	Width, Height int64
	Dark          bool
	Downloads     string // folder for what is saved
}

// Open opens an address in a new tab. Whatever the browser complains about (an exception, a policy that was violated, a file that is not there) fails
// the test at its end.
func (b *Browser) Open(t testing.TB, address string, w Window) *Page {
	t.Helper()
	if w.Width == 0 {
		w.Width, w.Height = 1280, 800
	}
	ctx, cancel := chromedp.NewContext(b.ctx)
	p := &Page{t: t, ctx: ctx}
	listening := make(chan struct{})
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(w.Width, w.Height)))
	go func() {
		defer close(listening)
		p.listen()
	}()
	p.close = sync.OnceFunc(func() {
		cancel()
		<-listening
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, problem := range p.problems {
			if !slices.ContainsFunc(p.expected, func(words string) bool { return strings.Contains(problem, words) }) {
				t.Errorf("the browser complained: %s", problem)
			}
		}
	})
	t.Cleanup(p.close)
	scheme := "light"
	if w.Dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	require.NoError(t, err)
	if w.Downloads != "" {
		_, err := chromedp.CallBrowser(ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
			Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: w.Downloads,
		})
		require.NoError(t, err)
	}
	p.Do(chromedp.Navigate(address))
	return p
}

func (p *Page) listen() {
	for message, err := range chromedp.Console(p.ctx) {
		if err != nil {
			return
		}
		if kind := string(message.Type); kind == "error" || kind == "warning" || strings.Contains(kind, "exception") {
			p.mu.Lock()
			p.problems = append(p.problems, fmt.Sprintf("%s: %s (%s:%d)", message.Type, message.Text, message.URL, message.Line))
			p.mu.Unlock()
		}
	}
}

// Expect says that complaints with these words are what the test is about.
func (p *Page) Expect(words string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, words)
}

// Do does steps one after the other.
func (p *Page) Do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	p.must(chromedp.Do(ctx, steps...), "a step")
}

// must ends the test if something went wrong, and says what is to be seen then.
func (p *Page) must(err error, what string) {
	p.t.Helper()
	if err == nil {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	text, textErr := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	if textErr != nil {
		text = fmt.Sprintf("(the page does not say what is on it: %v)", textErr)
	}
	const enough = 2000
	if len(text) > enough {
		text = text[:enough] + "…"
	}
	p.mu.Lock()
	complaints := strings.Join(p.problems, "\n")
	p.mu.Unlock()
	p.t.Fatalf("%s: %v\nthe browser complained: %s\nthe page shows: %s", what, err, complaints, text)
}

// Eval returns the value of an expression of JavaScript.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	p.must(err, expression)
	return value
}

// Until waits until an expression is true.
func (p *Page) Until(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Poll[any](expression, chromedp.WithPollingTimeout(0))) // else it gives up after 30 s by itself
	p.must(err, fmt.Sprintf("after %v still not: %s", Patience, expression))
}

// Text returns the text that is to be seen in the first element that a selector finds.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	return Eval[string](p, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// Texts returns the texts of all elements that a selector finds.
func (p *Page) Texts(selector string) []string {
	p.t.Helper()
	return Eval[[]string](p, fmt.Sprintf("[...document.querySelectorAll(%q)].map((e) => e.innerText.trim())", selector))
}

// Point is a place on the page, in pixels.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Center returns the middle of what is to be seen of the first element that a selector finds; it is scrolled into sight.
func (p *Page) Center(selector string) Point {
	p.t.Helper()
	p.Until(fmt.Sprintf("document.querySelector(%q)", selector))
	return Eval[Point](p, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({block: "nearest", inline: "nearest"});
		let {left, top, right, bottom} = e.getBoundingClientRect();
		const clip = (r) => { left = Math.max(left, r.left); top = Math.max(top, r.top); right = Math.min(right, r.right); bottom = Math.min(bottom, r.bottom); };
		for (let up = e.parentElement; up; up = up.parentElement) if (getComputedStyle(up).overflow !== "visible") clip(up.getBoundingClientRect());
		clip({left: 0, top: 0, right: innerWidth, bottom: innerHeight});
		return {x: (left + right) / 2, y: (top + bottom) / 2};
	})()`, selector))
}
