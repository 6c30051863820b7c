// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/e2e/browser"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/viewapi"
)

// The rows of a service with 400 threads.
const (
	rowHTTP   = "pool:http-nio-*-exec-*"
	rowOrders = "pool:order-worker-*"
	rowIdle   = "rows:idle"
	rowJVM    = "rows:jvm"
	rowRest   = "rows:rest"
)

// openService opens the lanes of a service with 400 threads, and waits until they are complete.
func openService(t *testing.T, hash string) (*browser.Page, *server) {
	t.Helper()
	s := serve(t, "-threads", "400", "-live=false")
	p := openAt(t, chromium(t), s, "tab=threads&arrows=none&s="+serviceSession+hash, browser.Window{Width: 1280, Height: 800})
	settled(p)
	p.Until("weftPlane.complete()")
	p.Painted()
	return p, s
}

// untilRows waits until the first rows are these: the keys of pools and folded rows, the names of threads.
func untilRows(p *browser.Page, want ...string) {
	p.Until(fmt.Sprintf(`weftPlane.rows.slice(0, %d).map((row) => row.key || row.name || row.thread.name).join() === %q`, len(want), strings.Join(want, ",")))
}

// A service has a row for each pool, the costliest first, then its busy threads; idle threads and those of the JVM share rows.
func TestServiceIsFolded(t *testing.T) {
	t.Parallel()
	p, s := openService(t, "")
	untilRows(p, rowHTTP, rowOrders, "main", "report", rowIdle, rowJVM)
	assert.Equal(t, 6, browser.Eval[int](p, "weftPlane.rows.length"))
	pools := get[viewapi.Virtual](t, s, "sessions/"+serviceSession+"/pools").Groups
	at := slices.IndexFunc(pools, func(g viewapi.VirtualGroup) bool { return "pool:"+g.Name == rowHTTP })
	assert.Contains(t, p.Text(".name.virtual .faint"), fmt.Sprintf("%d threads, ", pools[at].Threads))
	assert.Contains(t, p.Text(".name.head"), "4") // of six single threads, two are busy
	assert.Equal(t, []string{"false", "false", "false", "false"}, browser.Eval[[]string](p, `[...document.querySelectorAll(".name")].map((e) => e.ariaExpanded).filter((e) => e)`))
	untilPixels(t, p, "state-blocked", atLeast(2000))
	untilPixels(t, p, "state-idle", atLeast(20_000))
	untilPixels(t, p, "state-parked", none)

	p.ClickText(".name.head", "JVM threads")
	p.Until(fmt.Sprintf("weftPlane.rows.length === %d", 6+len(threadtest.ServiceJVM)))
	assert.Subset(t, p.Texts(".name"), []string{"Signal Dispatcher", "C2 CompilerThread0"})
	p.ClickText(".name.virtual", "order-worker")
	p.Until(`weftPlane.rows.length > 80 && weftPlane.rows[2].thread?.name.startsWith("order-worker-") && weftPlane.complete()`)
	p.Until(`new URLSearchParams(location.hash.slice(1)).getAll("open").join() === "rows:jvm,pool:order-worker-*"`)
	blocked := browser.Eval[[]int64](p, `weftPlane.rows.filter((row) => row.thread?.pool === "order-worker-*").map((row) => row.thread.blocked.time)`)
	assert.True(t, slices.IsSortedFunc(blocked, func(a, b int64) int { return int(b - a) }), "the costliest first")
	p.ClickText(".name.virtual", "order-worker")
	p.ClickText(".name.head", "JVM threads")
	untilRows(p, rowHTTP, rowOrders, "main", "report", rowIdle, rowJVM)
}

// All of that works without a mouse.
func TestKeysOpenRows(t *testing.T) {
	t.Parallel()
	p, _ := openService(t, "")
	browser.Eval[any](p, `void document.querySelector(".lanes").focus()`)
	for _, row := range []string{rowHTTP, rowOrders} {
		p.Press(kb.ArrowDown)
		p.Until(fmt.Sprintf("weftPlane.chosenGroup === %q", row))
	}
	p.Until(`document.querySelector(".said").innerText.startsWith("order-worker-*: 77 threads")`)
	p.Press(kb.ArrowRight)
	p.Until("weftPlane.rows.length === 6 + 77")
	p.Press(kb.ArrowLeft)
	p.Until("weftPlane.rows.length === 6")
	for range 3 { // main, report, idle threads
		p.Press(kb.ArrowDown)
		p.Painted()
	}
	p.Until(fmt.Sprintf("weftPlane.chosenGroup === %q || weftPlane.chosenThread > 0", rowIdle))
	for browser.Eval[string](p, "weftPlane.chosenThread ? '' : weftPlane.chosenGroup") != rowIdle {
		thread := browser.Eval[int](p, "weftPlane.chosenThread")
		p.Press(kb.ArrowDown)
		p.Until(fmt.Sprintf("weftPlane.chosenThread !== %d", thread))
	}
	p.Until(`document.querySelector(".said").innerText === "Idle threads: 4, folded"`)
	p.Press(kb.ArrowRight)
	p.Until("weftPlane.rows.length === 6 + 4")
}

// The order is chosen in a menu and kept in the link.
func TestLanesAreOrdered(t *testing.T) {
	t.Parallel()
	p, _ := openService(t, "")
	choose := func(text string) {
		p.Click(`.toolbar button[aria-label^="Order"], .toolbar button[title^="Order"]`)
		p.ClickText(".popup label", text)
	}
	choose("By name")
	untilRows(p, rowHTTP, "main", rowOrders, "report", rowIdle, rowJVM)
	p.Until(`new URLSearchParams(location.hash.slice(1)).get("order") === "name"`)
	choose("By start") // all start at once
	untilRows(p, rowHTTP, "main", rowOrders, "report", rowIdle, rowJVM)
	p.Until(`new URLSearchParams(location.hash.slice(1)).get("order") === "start"`)
	choose("By pool")
	untilRows(p, rowHTTP, rowOrders, "main", "report", rowIdle, rowJVM)
	choose("By cost")
	p.Until(`!location.hash.includes("order=")`)
	p.Close()

	// Of a few threads, each has its lane, unless the order is that of pools.
	p = openLanes(t, "s="+locks)
	untilRows(p, "matcher-1", "matcher-2", "matcher-3", "client-3")
	p = openLanes(t, "s="+locks+"&order=pool")
	untilRows(p, "pool:client-*", "pool:matcher-*", "main", "report", "pool-1-thread-1", "Notification Thread")
}

// A folded thread that a link leads to has a lane.
func TestFoldedThreadIsFound(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"scheduling-1", "http-nio-24180-exec-300"} {
		p, s := openService(t, "")
		id := get[viewapi.Found](t, s, "sessions/"+serviceSession+"/search?q="+name).Hits[0].Thread.ID
		p.Click(".search input")
		p.Press(name + "\r")
		p.Until(fmt.Sprintf(`document.querySelector(".name.chosen")?.title.startsWith("%s\n") && weftPlane.chosenThread === %d`, name, id))
		p.Close()
	}
}

// The threads of an episode have lanes in its order; the others share a row.
func TestEpisodeHasItsLanes(t *testing.T) {
	t.Parallel()
	p, s := openService(t, "&cast=13.20.350.31")
	names := map[uint64]string{}
	for _, th := range get[viewapi.Threads](t, s, "sessions/"+serviceSession+"/threads?threads=13,20,350,31").Threads {
		names[th.ID] = th.Name
	}
	cast := []string{names[13], names[20], names[350], names[31]}
	untilRows(p, append(slices.Clone(cast), rowRest)...)
	assert.Contains(t, p.Text(".name.head"), "396 other threads")
	assert.Equal(t, "4 of 400 threads", p.Text(".corner span"))
	assert.Contains(t, p.Text(".cast"), "The 4 threads of an episode")
	p.Click(".name.head")
	untilRows(p, append(slices.Clone(cast), rowRest, rowHTTP, rowOrders, "main", rowIdle, rowJVM)...)
	p.Click(".name.head")
	p.Until("weftPlane.rows.length === 5")
	p.Press("\x1b")
	untilRows(p, rowHTTP, rowOrders, "main", "report", rowIdle, rowJVM)
	p.Until(`!location.hash.includes("cast=") && !document.querySelector(".cast")`)
}

func TestButtonLeavesAnEpisode(t *testing.T) {
	t.Parallel()
	p, _ := openService(t, "&cast=13.20")
	p.ClickText(".cast button", "Show all threads")
	untilRows(p, rowHTTP, rowOrders, "main", "report")
}

// Names are cut in the middle: their ends, by which threads of a pool differ, are always visible.
func TestEndsOfNamesAreVisible(t *testing.T) {
	t.Parallel()
	p, _ := openService(t, "&open="+rowHTTP+"&range=100000000-120000000")
	p.Until(`document.querySelectorAll(".name .long").length > 5`)
	assert.Empty(t, browser.Eval[[]string](p, `[...document.querySelectorAll(".name .long")].filter((e) => {
		const end = e.lastElementChild.getBoundingClientRect();
		return end.right > e.getBoundingClientRect().right + 0.5 || end.top > e.getBoundingClientRect().bottom - 5;
	}).map((e) => e.innerText)`))
	browser.Eval[any](p, `void document.querySelectorAll(".name .long").forEach((e) => e.firstElementChild.append(" with a name that is far too long"))`)
	assert.Empty(t, browser.Eval[[]string](p, `[...document.querySelectorAll(".name .long")].filter((e) =>
		e.lastElementChild.getBoundingClientRect().right > e.getBoundingClientRect().right + 0.5).map((e) => e.innerText)`))
}
