// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package browser drives a headless Chromium for tests: it opens the page, acts like a user, and reads the screen.
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

// Patience limits waits that normally take well under a second; a busy machine may need much longer.
const Patience = 10 * time.Minute

// Browser is a running Chromium.
type Browser struct {
	ctx context.Context //nolint:containedctx // chromedp keeps a browser in its context
}

// Start launches a Chromium with additional flags, which ends with the test. It is installed first if possible.
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

// ErrMissing reports that Chromium is not installed and cannot be installed.
var ErrMissing = errors.New("no Chromium")

// Launch launches a Chromium; the caller ends it with end.
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

// CPU returns the CPU time used by all processes of the browser.
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

// install returns the path of Chromium.
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

// Close closes the tab, as the end of the test does.
func (p *Page) Close() { p.close() }

// Window describes the window of a page; the zero value is 1280×800 with light colors.
type Window struct {
	Width, Height int64
	Dark          bool
	Downloads     string // folder for downloads
	Zone          string // time zone, such as Europe/Berlin; empty: that of the machine
}

// Open opens an address in a new tab. Errors in the console (an exception, a violated policy, a missing file) fail the test at its end, unless Expect
// names them.
func (b *Browser) Open(t testing.TB, address string, w Window) *Page {
	t.Helper()
	if w.Width == 0 {
		w.Width, w.Height = 1280, 800
	}
	// All tabs of a profile share six connections to a server, and each page of Weft keeps one: each tab has a profile of its own.
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
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
				t.Errorf("console: %s", problem)
			}
		}
	})
	t.Cleanup(p.close)
	// Tests run in parallel, and each needs the focus in its tab.
	_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	require.NoError(t, err)
	p.Dark(w.Dark)
	if w.Zone != "" {
		_, err := chromedp.Call(ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: w.Zone})
		require.NoError(t, err)
	}
	if w.Downloads != "" {
		_, err := chromedp.CallBrowser(ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
			Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: w.Downloads,
			BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
		})
		require.NoError(t, err)
	}
	p.Do(chromedp.Navigate(address))
	return p
}

// Dark sets whether the system prefers dark colors.
func (p *Page) Dark(dark bool) {
	p.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	require.NoError(p.t, err)
}

// Paper shows the page as it is printed, in a window of the same size.
func (p *Page) Paper() {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	require.NoError(p.t, err)
	Eval[any](p, `void dispatchEvent(new Event("beforeprint"))`)
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

// Expect allows console errors that contain these words.
func (p *Page) Expect(words string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, words)
}

// Do runs actions in order.
func (p *Page) Do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Patience)
	defer cancel()
	p.must(chromedp.Do(ctx, steps...), "action")
}

// described is what a failed test says about the page: its address, whether the browser draws it, which lanes are missing, and its text.
const described = `(async () => {
	const lanes = () => window.weftPlane?.cache?.describe() ?? "";
	const before = lanes();
	const drawn = await Promise.race([
		new Promise((done) => requestAnimationFrame(() => done("drawn"))),
		new Promise((done) => setTimeout(() => done("not drawn within 5 s"), 5000)),
	]);
	return [location.href, document.visibilityState + ", " + drawn, before, lanes(), document.body.innerText].join("\n");
})()`

// must ends the test on an error, with the console and the text of the page.
func (p *Page) must(err error, what string) {
	p.t.Helper()
	if err == nil {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	text, textErr := chromedp.Run(ctx, chromedp.Evaluate[string](described, chromedp.EvalAwaitPromise))
	if textErr != nil {
		text = fmt.Sprintf("(unknown: %v)", textErr)
	}
	const enough = 2000
	if len(text) > enough {
		text = text[:enough] + "…"
	}
	p.mu.Lock()
	console := strings.Join(p.problems, "\n")
	p.mu.Unlock()
	p.t.Fatalf("%s: %v\nconsole: %s\npage: %s", what, err, console, text)
}

// Eval returns the value of a JavaScript expression.
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
	_, err := chromedp.Run(ctx, chromedp.Poll[any](expression, chromedp.WithPollingTimeout(0))) // the default is 30 s
	p.must(err, fmt.Sprintf("not true after %v: %s", Patience, expression))
}

// Painted waits for two frames: a change requested in the first is on the screen in the second.
func (p *Page) Painted() {
	p.t.Helper()
	Eval[any](p, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))`)
}

// Text returns the visible text of the first element that matches a selector.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	return Eval[string](p, fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))
}

// Texts returns the visible texts of all elements that match a selector.
func (p *Page) Texts(selector string) []string {
	p.t.Helper()
	return Eval[[]string](p, fmt.Sprintf("[...document.querySelectorAll(%q)].map((e) => e.innerText.trim())", selector))
}

// Point is a place on the page, in pixels.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// Center scrolls the first element that matches a selector into view, and returns the center of its visible part.
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
