// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// A thread that sleeps through whole windows while holding a lock has no event in them. Each window must show it.
//
//	         0 s      10 s      20 s      30 s   35 s
//	report   ┤ SLEEPING, holds the lock ────────────├RUN
//	matcher  ┤ BLOCKED ─────────────────────────────▲
func TestSleepingHolderIsShown(t *testing.T) {
	const s = jvmthread.Time(time.Second)
	book := jvmthread.LockID{Class: 1, Hash: 1}
	finder := window.NewFinder()
	windows := 0
	run(t, []jvmthread.Event{
		{Time: 100 * s, Thread: 1, Kind: jvmthread.KindThreadStart},
		{Time: 100 * s, Thread: 2, Kind: jvmthread.KindThreadStart},
		{Time: 100*s + 1, Thread: 1, Kind: jvmthread.KindSleepStart, Arg: int64(35 * s)},
		{Time: 100*s + 2, Thread: 2, Kind: jvmthread.KindContendedEnter, Lock: book, Peer: 1},
		{Time: 135 * s, Thread: 1, Kind: jvmthread.KindSleepEnd},
		{Time: 135*s + 5, Thread: 2, Kind: jvmthread.KindContendedEntered, Lock: book},
	}, 10*time.Second, func(w *window.Window) {
		windows++
		finder.Find(w)
		if len(w.Lanes) != 2 || len(w.Locks) != 1 || w.Verdict == nil {
			t.Fatalf("window %d: %d threads, %d locks, verdict %v", windows, len(w.Lanes), len(w.Locks), w.Verdict)
		}
		if got := w.Locks[0].Holders[jvmthread.StateSleeping]; windows == 2 && got != 10*time.Second {
			t.Errorf("window 2: the holder slept for %v of 10 s", got)
		}
		if segs := w.Verdict.Path.Segments; windows == 2 && (len(segs) != 1 || segs[0].Kind != criticalpath.KindSleep || segs[0].Thread != 1) {
			t.Errorf("window 2: path is %+v, want the sleep of the holder", segs)
		}
	})
	if windows != 4 {
		t.Errorf("%d windows, want 4", windows)
	}
}

// An owner without events of its own is shown as unknown, and its handoff is found.
func TestUnknownOwner(t *testing.T) {
	book := jvmthread.LockID{Class: 1, Hash: 1}
	run(t, []jvmthread.Event{
		{Time: 10, Thread: 2, Kind: jvmthread.KindThreadStart},
		{Time: 20, Thread: 2, Kind: jvmthread.KindContendedEnter, Lock: book, Peer: 1},
		{Time: 30, Thread: 2, Kind: jvmthread.KindContendedEntered, Lock: book},
	}, time.Hour, func(w *window.Window) {
		list := slices.Collect(w.Interactions())
		if len(w.Lanes) != 2 || len(list) != 1 || list[0].From.Thread != 1 {
			t.Errorf("%d threads, interactions: %v", len(w.Lanes), list)
		}
	})
}

// Threads without an end event, such as virtual threads, are discarded after a time without events.
func TestThreadsWithoutEndExpire(t *testing.T) {
	e := drive.New(engine.DefaultConfig(), nil)
	at, most := jvmthread.Time(1_700_000_000_000_000_000), 0
	for number := uint64(1); number <= 1000; number++ { // of ten seconds
		var evs []jvmthread.Event
		for i := range 10 {
			id := jvmthread.ThreadID(number*10 + uint64(i))
			lock := jvmthread.LockID{Class: 1, Hash: 1}
			evs = append(evs,
				jvmthread.Event{Time: at, Thread: id, Kind: jvmthread.KindContendedEnter, Lock: lock, Peer: 1, Flags: jvmthread.FlagVirtual},
				jvmthread.Event{Time: at + 1, Thread: id, Kind: jvmthread.KindContendedEntered, Lock: lock, Flags: jvmthread.FlagVirtual})
		}
		at += jvmthread.Time(10 * time.Second)
		e.Add(batchOf(number, (number-1)*20, evs, at))
		e.Advance(func(*window.Window) {})
		most = max(most, e.Timeline().Len())
	}
	if most > 200 {
		t.Errorf("up to %d threads in the timeline", most)
	}
	if c := e.Counters(); c.Timeline.Refused > 0 {
		t.Errorf("%+v", c.Timeline)
	}
}

// A lock whose owner ended long ago is free, however late the next thread gets it.
//
//	         0 s      10 s      20 s      30 s   35 s
//	worker   ┤RUN├─end
//	matcher  ┤ BLOCKED ─────────────────────────────▲
func TestLockOfEndedOwnerIsFree(t *testing.T) {
	const s = jvmthread.Time(time.Second)
	book := jvmthread.LockID{Class: 1, Hash: 1}
	finder := window.NewFinder()
	var got []string
	run(t, []jvmthread.Event{
		{Time: 100 * s, Thread: 1, Kind: jvmthread.KindThreadStart},
		{Time: 100 * s, Thread: 2, Kind: jvmthread.KindThreadStart},
		{Time: 101 * s, Thread: 2, Kind: jvmthread.KindContendedEnter, Lock: book, Peer: 1},
		{Time: 102 * s, Thread: 1, Kind: jvmthread.KindThreadEnd},
		{Time: 135 * s, Thread: 2, Kind: jvmthread.KindContendedEntered, Lock: book},
	}, 10*time.Second, func(w *window.Window) {
		since := func(at jvmthread.Time) time.Duration { return time.Duration(at - 100*s) }
		finder.Find(w)
		for _, seg := range w.Verdict.Path.Segments {
			got = append(got, fmt.Sprintf("%v..%v %v of %d", since(seg.Start), since(seg.End), seg.Kind, seg.Thread))
		}
		for _, h := range w.Holds {
			if h.End > w.Start && h.End > h.Start {
				got = append(got, fmt.Sprintf("held by %d until %v", h.Thread, since(h.End)))
			}
		}
		for ia := range w.Interactions() {
			got = append(got, fmt.Sprintf("%v from %d at %v", ia.Kind, ia.From.Thread, since(ia.CauseTime)))
		}
	})
	want := `0s..1s run of 2
1s..2s run of 1
2s..10s blocked_unknown of 2
held by 1 until 2s
10s..20s blocked_unknown of 2
20s..30s blocked_unknown of 2
30s..35s wake_latency of 2
35s..35.000000001s run of 2
handoff from 1 at 2s`
	if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
		t.Error(diff)
	}
}
