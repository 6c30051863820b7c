// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/e2e/browser"
	"github.com/weft-otel/weft/internal/viewapi"
)

// openFlame opens the flame graph and waits until it is painted.
func openFlame(t *testing.T, hash string) *browser.Page {
	t.Helper()
	p := open(t, hash+"&tab=flame")
	answered(p)
	p.Until(`performance.getEntriesByName("weft.flame").length > 0`)
	p.Painted()
	return p
}

// frameAt returns the middle of a frame: of a side, and with a label.
func frameAt(p *browser.Page, side, label string) browser.Point {
	found := fmt.Sprintf(`(() => {
		const {graph} = weftFlame;
		const all = %[1]q === "lock" ? graph.locks : graph[%[1]q].flat();
		return all.find((frame) => frame.label === %[2]q) ?? null;
	})()`, side, label)
	p.Until(found + " !== null")
	return browser.Eval[browser.Point](p, `(() => {
		const {x, y, width, height} = weftFlame.box(`+found+`);
		const {left, top} = document.querySelector(".flame .plane").getBoundingClientRect();
		return {x: left + x + width / 2, y: top + y + height / 2};
	})()`)
}

// The graph says which code waited and what the holder did; a click zooms in, and a button leads to the lanes.
func TestFlameGraphLeadsToTheLanes(t *testing.T) {
	t.Parallel()
	p := openFlame(t, "s="+locks)
	assert.Contains(t, p.Text(".flame-line"), "Threads waited 5.84 s for 2 locks. Click a frame to zoom in.")
	p.Hover(frameAt(p, "holds", "Report.write"))
	p.Until(`document.querySelector(".flame .tip")`)
	assert.Regexp(t, `^com.acme.Report.write\n+threads waited 3.38 s \(97 % of this lock\) while a holder did this; 15 waits began meanwhile$`, p.Text(".flame .tip"))
	p.ClickAt(frameAt(p, "waits", "Matcher.match"))
	p.Until(`location.hash.includes("frame=waits&frame=com.acme.Matcher.match") && document.querySelector(".flame-line strong")?.innerText === "com.acme.Matcher.match"`)
	assert.Contains(t, p.Text(".flame-line"), "threads waited 3.48 s (100 % of this lock) here, 15 waits")
	assert.Contains(t, browser.Eval[string](p, `document.querySelector(".flame-view select").selectedOptions[0].innerText`), "OrderBook.lock")
	p.ClickText(".flame-line button", "Show in lanes")
	p.Until(`document.querySelector(".detail .sentence")`)
	assert.Contains(t, p.Text(".detail .sentence"), "blocked OrderBook.lock for 240 ms in Matcher.match")
	assert.Equal(t, "Threads", p.Text(".tabs [aria-selected=true]"))
}

// Everything works without a mouse, and a link restores it.
func TestFlameGraphWithKeys(t *testing.T) {
	t.Parallel()
	p := openFlame(t, "s="+locks)
	p.Press(kb.ArrowRight + kb.ArrowDown + kb.ArrowDown)
	p.Until(`document.querySelector(".flame-line [aria-live]").innerText.startsWith("com.acme.Report.write. threads waited 3.38 s")`)
	p.Press(kb.Enter)
	p.Until(`location.hash.includes("frame=holds&frame=%7E-22&frame=com.acme.Report.write") && weftFlame.zoomed?.name === "com.acme.Report.write"`)
	again := open(t, strings.TrimPrefix(browser.Eval[string](p, "location.hash"), "#"))
	again.Until(`window.weftFlame?.zoomed?.name === "com.acme.Report.write"`)
	p.Press(kb.Escape)
	p.Until(`!location.hash.includes("frame=") && weftFlame.zoomed === null`)
	p.Press("l")
	p.Until(`document.querySelector(".detail .sentence")`)
	assert.Contains(t, p.Text(".detail .sentence"), "report: sleep")
}

func TestFlameGraphFinds(t *testing.T) {
	t.Parallel()
	p := openFlame(t, "s="+locks)
	p.Type("[aria-label='Find frames']", "report.")
	p.Until(`document.querySelector(".flame-view .toolbar [role=status]")?.innerText === "in 0 % above, 58 % below"`)
	p.Until(`location.hash.includes("find=report.")`)
}

func TestFlameGraphWithoutWaits(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+locks+"&tab=flame&range=0-90000000")
	p.Until(`document.querySelector(".flame .empty-state")?.innerText === "No thread waited for a lock in this range."`)
}

// In another session or range, the page says what is new, and a click leads to it.
func TestFlameGraphCompares(t *testing.T) {
	t.Parallel()
	p := openFlame(t, "s="+locks)
	p.Choose("[aria-label='Compare with']", finished)
	p.Until(`document.querySelectorAll("[data-table=compare] tbody tr").length > 2 && weftFlame.graph?.compared`)
	c := get[viewapi.Comparison](t, simulated(t), "sessions/"+locks+"/compare?sort=difference&before="+finished)
	rows := p.Texts("[data-table=compare] tbody tr")
	assert.Regexp(t, `^▲ new\s+lock\s+OrderBook.lock\s+Matcher.match\s+0\s+1.57 s\s+\+1.57 s\s+0\s+15$`, rows[0])
	assert.Regexp(t, `^▲ new\s+pool\s+HikariPool\s+Shop.buy`, rows[1])
	assert.Len(t, c.Changes, c.Total)
	assert.Regexp(t, `^All waits together: 2.63 s in a second, before .* What got worse: OrderBook.lock in Matcher.match \(new, \+1.57 s\), HikariPool in Shop.buy \(new, \+1.06 s\)\.`, p.Text(".compare-line"))
	p.Choose("[aria-label='Requests before']", "100")
	p.Choose("[aria-label='Requests now']", "10")
	p.Until(`document.querySelector(".compare-line")?.innerText.includes(" for a request, before ")`)
	perRequest := get[viewapi.Comparison](t, simulated(t), "sessions/"+locks+"/compare?sort=difference&before_requests=100&requests=10&before="+finished)
	assert.Equal(t, "request", perRequest.Unit)
	assert.InEpsilon(t, float64(perRequest.Changes[0].After.Time)/10, perRequest.Changes[0].AfterRate, 1e-9)
	difference := fmt.Sprintf("+%.3g ms", perRequest.Changes[0].Difference/1e6)
	p.Until(fmt.Sprintf(`document.querySelector("[data-table=compare] tbody tr")?.innerText.includes(%q)`, difference))
	p.Choose("[aria-label='Requests now']", "")
	p.Until(`document.querySelector(".compare-line")?.innerText.includes(" in a second, before ")`)
	p.Hover(frameAt(p, "lock", "HikariPool"))
	p.Until(`document.querySelector(".flame .tip .verdict.new")?.innerText.startsWith("new: +2.36 s compared with 0 before")`)
	assert.Positive(t, pixels(p, "flame-worse"))
	p.Click("[data-table=compare] tbody tr:nth-child(2)")
	p.Until(`document.querySelector(".detail .sentence")?.innerText.includes("wait for pool HikariPool")`)
}

// What is gone leads to the session that had it.
func TestFlameGraphShowsWhatIsGone(t *testing.T) {
	t.Parallel()
	p := openFlame(t, "s="+locks+"&before="+finished+"&wide=before")
	p.Until(`document.querySelectorAll("[data-table=compare] tbody tr").length > 2`)
	p.ClickText("[data-table=compare] th button", "Difference")
	p.Until(`document.querySelector("[data-table=compare] tbody tr")?.innerText.startsWith("▼ gone")`)
	p.Click("[data-table=compare] tbody tr:nth-child(1)")
	p.Until(fmt.Sprintf(`location.hash.includes(%q) && document.querySelector(".detail .sentence")`, "s="+finished))
}

// Two halves of a session are compared without choosing a range first.
func TestFlameGraphComparesHalves(t *testing.T) {
	t.Parallel()
	p := openFlame(t, "s="+locks)
	p.Choose("[aria-label='Compare with']", "halves")
	session := get[viewapi.Session](t, simulated(t), "sessions/"+locks)
	middle := (session.From + session.To) / 2
	p.Until(fmt.Sprintf(`location.hash.includes("range=%d-%d") && location.hash.includes("beforerange=%d-%d")`, middle, session.To, session.From, middle))
	p.Until(`document.querySelectorAll("[data-table=compare] tbody tr").length > 0`)
	c := get[viewapi.Comparison](t, simulated(t), fmt.Sprintf("sessions/%s/compare?from=%d&before_to=%d&%s", locks, middle, middle, url.Values{"before": {locks}}.Encode()))
	assert.Len(t, p.Texts("[data-table=compare] tbody tr"), c.Total)
	p.Choose("[aria-label='Compare with']", "")
	p.Until(`!document.querySelector("[data-table=compare]") && !location.hash.includes("before")`)
}

// A live session has new frames all the time; what is chosen and the scroll position stay.
func TestFlameGraphOfALiveSession(t *testing.T) {
	t.Parallel()
	p := openAt(t, chromium(t), simulated(t), "s="+live+"&tab=flame", browser.Window{Width: 1280, Height: 340})
	p.Until(`window.weftFlame?.graph?.holds.length > 1 && document.querySelector(".flame .scroller").scrollHeight > document.querySelector(".flame .scroller").clientHeight`)
	// A new graph may drop the frame that was chosen.
	const down = `document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true, cancelable: true}))`
	p.Until(`weftFlame.current?.side === "holds" || void ` + down)
	browser.Eval[any](p, `void (document.querySelector(".flame .scroller").scrollTop = 3, window.before = weftFlame.graph)`)
	p.Until(`weftFlame.graph !== before`)
	p.Painted()
	assert.Equal(t, 3, browser.Eval[int](p, `document.querySelector(".flame .scroller").scrollTop`))
	assert.Equal(t, "holds", browser.Eval[string](p, `weftFlame.current?.side ?? ""`))
}
