// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
)

var pictures = flag.String("pictures", "", "folder for screenshots of the page")

// TestPageNamesTheHottestLock checks that the page is live while the sample exchange runs, and names the lock afterwards.
func TestPageNamesTheHottestLock(t *testing.T) {
	c := startCollector(t, setup{})
	b := browser.Start(t)
	p := b.Open(t, "http://"+c.page+"/#tab=threads", browser.Window{Width: 1280, Height: 800})
	p.Until(`document.querySelector("main")?.innerText.includes("-agentpath:")`) // how to start
	jvm := java(t, jdks[0], c.endpoint, "exchange", "com.acme.orders.Exchange", "3600")
	p.Until(`document.querySelector(".status button")?.innerText.includes("Live")`)
	p.Until(`[...document.querySelectorAll(".name .text")].some((e) => e.innerText === "matcher-1")`)
	to := browser.Eval[float64](p, "weftPlane.limits.to")
	p.Until("weftPlane.limits.to > " + strconv.FormatFloat(to, 'f', -1, 64))
	poll(t, "the order book is the most contended lock", func() bool {
		o := c.spans(t)
		return o.LockTotal("exchange", "com.acme.orders.OrderBook", "weft.lock.contentions") >= 20 &&
			4*o.LockTotal("exchange", "com.acme.orders.OrderBook", "weft.lock.blocked.time") > 3*o.LockTotal("exchange", "", "weft.lock.blocked.time")
	})
	jvm.stop(t, syscall.SIGTERM)
	p.Until(`document.querySelector(".status")?.innerText.includes("ended after")`)
	p.Until(`/ (held|holding|for) OrderBook/.test(document.querySelector(".answer")?.innerText)`)
	p.Until(`/Without this|not on the critical path/.test(document.querySelector(".answer")?.innerText)`) // depends on the run

	p.Click("#tab-monitors")
	p.Until(`document.querySelector("[data-table=classes] tbody tr")?.innerText.startsWith("OrderBook")`)
	o := c.finish(t, "exchange")
	assert.Contains(t, browser.Eval[string](p, `document.querySelector("[data-table=classes] tbody tr").innerHTML`),
		nanoseconds(o.LockTotal("exchange", "com.acme.orders.OrderBook", "weft.lock.blocked.time")), "equal to the spans")
	p.Expect("ERR_") // the collector has stopped
}

// TestPageShowsADeadlock checks that the page shows a deadlock while it lasts.
func TestPageShowsADeadlock(t *testing.T) {
	c := startCollector(t, setup{})
	java(t, jdks[len(jdks)-1], c.endpoint, "stuck", "Deadlock")
	p := browser.Start(t).Open(t, "http://"+c.page+"/", browser.Window{Width: 1280, Height: 800, Dark: true})
	p.Until(`/left-right.*right-left|right-left.*left-right/.test(document.querySelector(".banner.bad")?.innerText ?? "")`)
	p.Click(".banner.bad .link")
	p.Until(`document.querySelector(".name.chosen.stuck")`)
	browser.Eval[any](p, `void document.querySelector(".lanes").focus()`)
	p.Press("f")
	p.Until(`document.querySelectorAll(".name.stuck").length === 2`)
}

// TestPageControlsAnAgent pauses and resumes an agent from the page if the configuration allows it, which needs authentication.
func TestPageControlsAnAgent(t *testing.T) {
	more := filepath.Join(t.TempDir(), "control.yaml")
	require.NoError(t, os.WriteFile(more, []byte(`extensions: {agent_control: , basicauth: {htpasswd: {inline: "me:secret"}}}
receivers: {jvm_thread: {remote_control: true}}
exporters: {thread_view: {control: true, auth: {authenticator: basicauth}}}
service: {extensions: [health_check, thread_engine, agent_control, basicauth]}
`), 0o600))
	c := startCollector(t, setup{more: []string{more}})
	java(t, jdks[len(jdks)-1], c.endpoint, "stuck", "Deadlock")
	p := browser.Start(t).Open(t, "http://me:secret@"+c.page+"/api/info", browser.Window{}) // the browser remembers them
	p.Do(chromedp.Navigate("http://" + c.page + "/#tab=sessions"))
	p.Until(`document.querySelector(".banner.bad") && document.querySelector(".answer .lock-name")`) // the layout is stable from here
	p.Until(`document.querySelectorAll(".configuration form .field").length > 0`)                    // options that can be changed
	p.ClickText(".configuration button", "Pause profiling")
	p.Until(`[...document.querySelectorAll(".configuration button")].some((e) => e.innerText.startsWith("Resume profiling"))`)
	assert.Empty(t, p.Text(".configuration .problem"))
	p.ClickText(".configuration button", "Resume profiling")
	p.Until(`[...document.querySelectorAll(".configuration button")].some((e) => e.innerText.startsWith("Pause profiling"))`)
}

// TestScreenshots takes screenshots of a real run for review and for the README: go test ./e2e -run TestScreenshots -pictures folder.
func TestScreenshots(t *testing.T) {
	if *pictures == "" {
		t.Skip("no -pictures")
	}
	require.NoError(t, os.MkdirAll(filepath.Join(*pictures, "large"), 0o750))
	c := startCollector(t, setup{})
	jvm := java(t, jdks[0], c.endpoint, "exchange", "com.acme.orders.Exchange", "6")
	require.Equal(t, 0, jvm.wait(t), "exit code of the exchange")
	b := browser.Start(t)
	for _, one := range []struct {
		name, hash string
		window     browser.Window
		do         func(p *browser.Page)
	}{
		{"page-incidents", "#", browser.Window{Width: 1280, Height: 800}, nil},
		{"page-threads", "#tab=threads", browser.Window{Width: 1280, Height: 800}, longest},
		{"page-monitors", "#tab=monitors", browser.Window{Width: 1280, Height: 800, Dark: true}, nil},
		{"large/threads", "#tab=threads&path=bounded", browser.Window{Width: 1920, Height: 1080}, nil},
		{"large/threads-dark", "#tab=threads", browser.Window{Width: 1920, Height: 1080, Dark: true}, longest},
		{"large/monitors", "#tab=monitors", browser.Window{Width: 1920, Height: 1080}, nil},
		{"large/locks", "#tab=locks", browser.Window{Width: 1920, Height: 1080}, nil},
		{"large/path-dark", "#tab=path", browser.Window{Width: 1920, Height: 1080, Dark: true}, nil},
	} {
		p := b.Open(t, "http://"+c.page+"/"+one.hash, one.window)
		p.Until(`document.querySelector(".answer .lock-name")`)
		p.Until(`!document.querySelector("canvas.plane") || !window.weftPlane || weftPlane.cache.complete()`)
		if one.do != nil {
			one.do(p)
		}
		browser.Eval[any](p, `new Promise((done) => setTimeout(done, 1500))`)
		p.Screenshot(filepath.Join(*pictures, one.name+".png"))
		p.Close()
	}
}

// longest selects the longest blocked interval of a matcher, and zooms to its surroundings.
func longest(p *browser.Page) {
	p.Until("weftPlane.arrows?.length > 0")
	browser.Eval[any](p, `(async () => {
		const session = new URLSearchParams(location.hash.slice(1)).get("s");
		const {threads} = await (await fetch("api/sessions/" + session + "/threads?name=matcher")).json();
		const matchers = new Set(threads.map(({id}) => id));
		const a = weftPlane.arrows.filter((a) => a.kind === 2 && matchers.has(a.to))
			.sort((a, b) => b.to_time - b.to_start - a.to_time + a.to_start)[0];
		const {seq} = await (await fetch("api/sessions/" + session + "/interval?thread=" + a.to + "&at=" + a.to_start)).json();
		const length = a.to_time - a.to_start;
		location.hash = "#s=" + session + "&follow=0&path=bounded&at=" + a.to + "." + seq + "&view=" + Math.round(a.to_start - length * 0.4) + "-" + Math.round(a.to_time + length * 0.8);
	})()`)
	p.Until(`document.querySelectorAll("[data-side=waited] li").length > 0 && weftPlane.cache.complete()`)
}

// nanoseconds formats a time as the tooltips of the page do.
func nanoseconds(ns int64) string {
	text := strconv.FormatInt(ns, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text + " ns"
}
