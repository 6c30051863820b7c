// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package main_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/browser"
	"github.com/weft-otel/weft/internal/viewapi"
)

// The details of a wait for a ReentrantLock name who held it longest, what that thread did, and where the application waits.
func TestDetailNamesTheHolder(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+locks+"&at=5.2")
	p.Until(`document.querySelector(".detail .sentence")`)
	assert.Contains(t, p.Text(".detail .sentence"), "blocked OrderBook.lock for 224 ms in Matcher.match, through ReentrantLock.lock; report held it 98 % of the time, asleep in Report.write")
	facts := p.Text(".detail dl")
	for _, want := range []string{"Waits for\nlock", "OrderBook.lock", "Matcher.match through ReentrantLock.lock", "Held by\nreport\n98 %\nasleep in Report.write", "Owner at start\nreport"} {
		assert.Contains(t, facts, want)
	}
	assert.Contains(t, p.Text(".detail .stack[data-side=held]"), "Report.write")
	assert.Equal(t, "- lock OrderBook.lock", p.Text(".detail .frames li.lock"))
}

// A thread that sleeps or runs waits for nothing that another one holds.
func TestDetailNamesNoHolderWithoutALock(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]string{"2.1": "runnable", "2.2": "sleep"} {
		p := openLanes(t, "s="+locks+"&at="+at)
		p.Until(`document.querySelector(".detail .sentence")`)
		assert.Equal(t, want, p.Text(".detail h2"))
		assert.NotContains(t, p.Texts(".detail dt"), "Held by")
	}
}

// The first sentence names the cause, for a ReentrantLock and for a pool.
func TestAnswerNamesTheCause(t *testing.T) {
	t.Parallel()
	p := openLanes(t, "s="+locks+"&range=0-1600000000")
	p.Until(`document.querySelector(".answer .saving")`)
	assert.Contains(t, p.Text(".answer p"), "report slept 1.2 s in Report.write holding OrderBook.lock; 3 matchers waited 3.48 s for it. "+
		"Without this, matcher-1 would have waited 1.2 s less")
	p = openLanes(t, "s="+finished+"&range=0-1600000000")
	assert.Regexp(t, `waited \S+ s for .* to end in Matcher.match; .* threads and \d+ others waited \S+ s for OrderBook`, p.Text(".answer p"))
	p = openLanes(t, "s="+locks+"&range=1600000000-2200000000")
	p.Until(`document.querySelector(".answer .lock-name")?.innerText === "HikariPool"`)
	assert.Regexp(t, `6 clients waited [\d.]+ s for a connection of HikariPool in Shop.buy; held by client-\d, -\d, -\d and 3 more, asleep in Shop.query for \d+ % of the time`, p.Text(".answer p"))
}

// Locks are listed by name and kind, the most contended first; those that no thread waited to get only on request.
func TestLocksAreNamed(t *testing.T) {
	t.Parallel()
	p := open(t, "s="+locks+"&tab=locks")
	p.Until(`document.querySelectorAll(".name.lock").length === 2`)
	names := p.Texts(".name.lock")
	assert.Regexp(t, `^OrderBook.lock\n3.48 s\nReentrantLock@b00c\n15 blocked`, names[0])
	assert.Regexp(t, `^HikariPool\n`, names[1])
	assert.Contains(t, names[1], "pool SynchronousQueue@9001")
	assert.Contains(t, browser.Eval[string](p, `document.querySelector(".name.lock").title`), "java.util.concurrent.locks.ReentrantLock$NonfairSync@b00c")
	p.ClickText(".toolbar button", "All locks")
	p.Until(`document.querySelectorAll(".name.lock").length === 3 && location.hash.includes("all=1")`)
	assert.NotContains(t, p.Texts(".name.lock")[2], "blocked")
}

// The tables of classes and methods name locks and pools, with their kinds.
func TestStatisticsNameLocksAndPools(t *testing.T) {
	t.Parallel()
	p := openWindow(t, "s="+locks+"&tab=monitors", browser.Window{Width: 3000, Height: 900})
	p.Until(`document.querySelectorAll("[data-table=classes] tbody tr").length >= 3 && document.querySelectorAll("[data-table=callers] tbody tr").length >= 2`)
	classes := strings.ReplaceAll(strings.Join(p.Texts("[data-table=classes] tbody tr"), "\n"), "\t", " ")
	assert.Regexp(t, `ReentrantLock\s.*lock\s+OrderBook.lock`, classes)
	assert.Regexp(t, `HikariPool\s.*pool\s+SynchronousQueue`, classes)
	callers := strings.ReplaceAll(strings.Join(p.Texts("[data-table=callers] tbody tr"), "\n"), "\t", " ")
	assert.Regexp(t, `Matcher.match\s+OrderBook.lock\s+lock`, callers)
	assert.Regexp(t, `Shop.buy\s+HikariPool\s+pool`, callers)
}

// A link of another program, such as Jaeger, has the time in microseconds since the Unix epoch, and the thread.
func TestLinkToAMoment(t *testing.T) {
	t.Parallel()
	server := simulated(t)
	wait := get[viewapi.Interval](t, server, "sessions/"+locks+"/interval?thread=5&seq=2")
	origin, err := strconv.ParseInt(get[viewapi.Session](t, server, "sessions/"+locks).Origin, 10, 64)
	require.NoError(t, err)
	p := openLanes(t, fmt.Sprintf("s=%s&thread=5&time=%d&length=%d", locks, (origin+wait.From)/1000, (wait.To-wait.From)/1000))
	p.Until(`document.querySelector(".detail .sentence")`)
	assert.Contains(t, p.Text(".detail .sentence"), "blocked OrderBook.lock for 224 ms")
	p.Until(`location.hash.includes("at=5.2") && location.hash.includes("follow=0") && !location.hash.includes("time=")`)
	view := browser.Eval[[]int64](p, `[weftPlane.view.from, weftPlane.view.to]`)
	assert.True(t, view[0] < wait.From && wait.To < view[1] && view[1]-view[0] < 4*(wait.To-wait.From), "%d..%d for a wait from %d to %d", view[0], view[1], wait.From, wait.To)
}
