// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"fmt"
	"net/url"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/e2e/browser"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/viewapi"
)

const (
	shortVirtual   = "a0000000000000000000000000000006"
	waitingVirtual = "a0000000000000000000000000000007"
)

// With 100,000 virtual threads, the page has a lane for each platform thread and for each group of virtual ones; a group opens into the
// costliest of its threads.
func TestManyVirtualThreads(t *testing.T) {
	if testing.Short() {
		t.Skip("loads two sessions of 100,000 threads")
	}
	t.Parallel()
	const n = 100_000
	s := serve(t, "-virtual", strconv.Itoa(n))
	for _, session := range []string{shortVirtual, waitingVirtual} {
		p := openAt(t, chromium(t), s, "s="+session+"&arrows=none", browser.Window{Width: 1280, Height: 800})
		groupsSettled(p)
		t.Logf("first screen with all lanes: %.0f ms", browser.Eval[float64](p, `performance.getEntriesByName("weft.first")[0].startTime`))
		groups := get[viewapi.Virtual](t, s, "sessions/"+session+"/virtual").Groups
		var threads int
		for _, g := range groups {
			threads += g.Threads
		}
		assert.Equal(t, n, threads)
		assert.Equal(t, threadtest.CrowdPlatform+len(groups), browser.Eval[int](p, "weftPlane.rows.length"))
		assert.LessOrEqual(t, threadtest.CrowdPlatform+len(groups), 60)
		assert.Equal(t, "20 threads, 100,000 virtual", p.Text(".corner span"))
		assert.Len(t, p.Texts(".name.virtual[aria-expanded=false]"), len(groups), "folded at first")
		untilPixels(t, p, "state-blocked", atLeast(5000)) // orders wait for a lock
		untilPixels(t, p, "state-parked", atLeast(5000))  // prices wait for a queue

		opensAGroup(t, p, s, session)
		if session == shortVirtual {
			keysReachGroups(t, p, groups)
		}

		type answers struct {
			Largest int
			Name    string
		}
		largest := browser.Eval[answers](p, `performance.getEntriesByType("resource").filter((e) => e.name.includes("/api/"))
			.map((e) => ({name: e.name, largest: e.decodedBodySize})).sort((a, b) => b.largest - a.largest)[0]`)
		t.Logf("largest answer: %d bytes", largest.Largest)
		assert.LessOrEqual(t, largest.Largest, 200_000, largest.Name)
		p.Close()
	}
}

// groupsSettled waits until the lanes of threads and groups are loaded and painted.
func groupsSettled(p *browser.Page) {
	settled(p)
	p.Until(`document.querySelectorAll(".name.virtual").length > 0 && weftPlane.areas.complete() && performance.getEntriesByName("weft.first").length > 0`)
	p.Painted()
}

// opensAGroup opens a group: its costliest threads get lanes, and the link keeps that.
func opensAGroup(t *testing.T, p *browser.Page, s *server, session string) {
	t.Helper()
	rows := browser.Eval[int](p, "weftPlane.rows.length")
	p.ClickText(".name.virtual", "Orders.submit")
	p.Until(fmt.Sprintf("weftPlane.rows.length === %d && weftPlane.cache.complete()", rows+200))
	p.Until(`document.querySelector(".name.virtual[aria-expanded=true]")?.innerText.includes("200 of 60,000, blocked longest")`)
	want := get[viewapi.Threads](t, s, "sessions/"+session+"/threads?sort=blocked.time&limit=1&virtual_group="+url.QueryEscape(threadtest.CrowdOrders))
	assert.Equal(t, want.Threads[0].ID, browser.Eval[uint64](p, `weftPlane.rows[1 + weftPlane.rows.findIndex((row) => row.kind === "virtual" && row.open)].thread.id`))
	p.Until(`new URLSearchParams(location.hash.slice(1)).get("open") === "` + threadtest.CrowdOrders + `"`)
	p.ClickText(".name.virtual", "Orders.submit")
	p.Until(fmt.Sprintf("weftPlane.rows.length === %d", rows))
	p.Until(`!location.hash.includes("open=")`)
}

// keysReachGroups goes through the lanes with the arrow keys, opens a group and selects one of its threads.
func keysReachGroups(t *testing.T, p *browser.Page, groups []viewapi.VirtualGroup) {
	t.Helper()
	rows := browser.Eval[int](p, "weftPlane.rows.length")
	browser.Eval[any](p, `void document.querySelector(".lanes").focus()`)
	chosen := func(name string) {
		p.Until(fmt.Sprintf("weftPlane.chosenGroup === %q && weftPlane.chosenThread === 0", name))
	}
	p.Press(kb.ArrowDown)
	chosen(groups[0].Name)
	p.Press(kb.ArrowDown)
	chosen(groups[1].Name)
	p.Until(`document.querySelector(".said").innerText.includes("30,000 virtual threads")`)
	p.Press(kb.ArrowRight)
	p.Until(fmt.Sprintf("weftPlane.rows.length === %d", rows+200))
	p.Press(kb.ArrowLeft)
	p.Until(fmt.Sprintf("weftPlane.rows.length === %d", rows))
	p.Press(kb.ArrowRight)
	p.Until(fmt.Sprintf("weftPlane.rows.length === %d", rows+200))
	p.Press(kb.ArrowDown) // the first of its threads
	p.Until(fmt.Sprintf("weftPlane.chosenThread >= %d && document.querySelector('.detail h2')", threadtest.CrowdFirst))
	p.Press("\x1b")
	p.Until("weftPlane.chosenThread === 0")
}

// A virtual thread that a link or the search leads to has a lane although its group is folded.
func TestVirtualThreadIsFound(t *testing.T) {
	t.Parallel()
	s := serve(t, "-virtual", "3000")
	p := openAt(t, chromium(t), s, "s="+shortVirtual, browser.Window{Width: 1280, Height: 800})
	groupsSettled(p)
	p.Click(".search input")
	p.Press("session-1009\r")
	p.Until(`document.querySelector(".name.chosen")?.innerText.startsWith("session-1009")`)
	p.Until(`weftPlane.rows[weftPlane.rows.findIndex((row) => row.kind === "thread" && row.thread.id === weftPlane.chosenThread) - 1]?.group?.name === "session-*"`)
	// An open group shows those of its threads that lost most time in view.
	p.ClickText(".name.virtual", "Prices.refresh")
	browser.Eval[any](p, `weftPlane.setView({from: 200_000_000, to: 220_000_000})`)
	p.Until(`(() => {
		const open = weftPlane.rows.findIndex((row) => row.kind === "virtual" && row.open);
		const threads = open < 0 ? [] : weftPlane.rows[open].members;
		return threads.length > 50 && threads.length <= 200 && threads.every(({from, to}) => from < 220_000_000 && to > 200_000_000);
	})()`)
	query := fmt.Sprintf("sessions/%s/threads?from=200000000&to=220000000&limit=5&sort=states.%d.time&virtual_group=", shortVirtual, jvmthread.StateQueued)
	var longest []uint64
	for _, th := range get[viewapi.Threads](t, s, query+url.QueryEscape(browser.Eval[string](p, `weftPlane.rows.find((row) => row.open).key`))).Threads {
		longest = append(longest, th.ID)
	}
	assert.Equal(t, longest, browser.Eval[[]uint64](p, `weftPlane.rows.find((row) => row.open).members.slice(0, 5).map(({id}) => id)`), "queued longest")
	p.ClickText(".name.virtual", "Prices.refresh")
	p.Click("#tab-monitors")
	p.Until(`document.querySelector("[data-table=threads] .sum")?.innerText.includes("Total of 3,020 threads")`)
	sum := get[viewapi.Threads](t, s, "sessions/"+shortVirtual+"/threads?limit=1").Sum
	assert.Contains(t, browser.Eval[string](p, `document.querySelector("[data-table=threads] .sum").innerHTML`), nanoseconds(sum.Blocked.Time))
	assert.Contains(t, p.Text(".monitors"), "201 of 3,000 virtual threads are listed", "the costliest and the selected one")
}

// The lanes of an episode appear all at once, so that the first one is always that of the holder; even if the holder started after the list of
// threads was loaded.
func TestEpisodeAppearsWhole(t *testing.T) {
	t.Parallel()
	s := serve(t, "-virtual", "3000")
	const holder = threadtest.CrowdPlatform - 1
	cast := fmt.Sprintf("%d.%d.%d", holder, threadtest.CrowdFirst+2000, threadtest.CrowdFirst+1)
	const first = `weftPlane.rows.slice(0, 3).map((row) => row.thread?.id).join(".")`
	for _, missing := range []int{0, holder} {
		p := openAt(t, chromium(t), s, "s="+shortVirtual, browser.Window{Width: 1280, Height: 800})
		groupsSettled(p)
		browser.Eval[any](p, fmt.Sprintf(`void (() => {
			const fetched = window.fetch;
			const released = new Promise((done) => { window.release = done; });
			window.fetch = async (url, init) => {
				if (/threads[?].*threads=/.test(url)) { window.held = true; await released; }
				const response = await fetched(url, init);
				if (!String(url).includes("only=platform")) return response;
				const answer = await response.json();
				window.listed = true;
				const threads = answer.threads.filter(({id}) => id !== %[1]d);
				return Response.json({...answer, total: answer.total - (answer.threads.length - threads.length), threads});
			};
			location.hash = "#s=%[2]s&range=0-100000000&cast=%[3]s";
		})()`, missing, shortVirtual, cast))
		p.Until(`window.held && window.listed && document.querySelector(".lanes .empty-state")?.innerText.startsWith("Loading")`)
		p.Painted()
		assert.Zero(t, browser.Eval[int](p, "weftPlane.rows.length"), "lanes of a part of the episode")
		browser.Eval[any](p, "void release()")
		p.Until(fmt.Sprintf("%s === %q", first, cast))
		p.Until(`!document.querySelector(".lanes .empty-state")`)
		p.Close()
	}
}
