// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// A thread that starts to wait for a deadlocked thread, directly or not, reaches a cycle that it is not part of. The search must not hit
// its limit.
func TestWaitersForDeadlockAreSearchedFully(t *testing.T) {
	for size := 2; size <= 20; size++ {
		var b strings.Builder
		for i := range size {
			fmt.Fprintf(&b, "%d T%d contendedEnter lock=L%d owner=T%d\n", 10+i, i, (i+1)%size, (i+1)%size)
		}
		for i := range 30 { // each waits for the previous one
			fmt.Fprintf(&b, "%d V%d contendedEnter lock=M%d owner=V%d\n", 100+i, i+1, i, i)
			if i == 0 {
				fmt.Fprintf(&b, "%d V0 contendedEnter lock=L0 owner=T0\n", 100)
			}
		}
		fmt.Fprintf(&b, "%d X yield\n", 10*time.Second)
		e, found := deadlocks(t, b.String())
		if c := e.Counters().Deadlock; found != 1 || c != (deadlock.Counters{}) {
			t.Errorf("%d threads: %d deadlocks, %+v", size, found, c)
		}
	}
}

// A deadlock begins when its cycle closed, although a window has ended since.
//
//	     0 s            9 s  9.5 s  10 s         20 s
//	A    ┤RUN────────────├ BLOCKED ├─ DEADLOCKED ──
//	B    ┤RUN──────────────────────├─ DEADLOCKED ──
func TestDeadlockBeginsWithItsCycle(t *testing.T) {
	const at = jvmthread.Time(time.Second)
	h, err := threadtest.Parse(fmt.Sprintf("0 A threadStart\n0 B threadStart\n%d A contendedEnter lock=R owner=B\n%d B contendedEnter lock=L owner=A\n%d C yield\n",
		9*at, 9*at+at/2, 20*at))
	if err != nil {
		t.Fatal(err)
	}
	since := map[jvmthread.ThreadID]jvmthread.Time{}
	var states window.Totals
	run(t, h.Events, 10*time.Second, func(w *window.Window) {
		for _, l := range w.Lanes {
			for _, iv := range l.Intervals.All() {
				if iv.State == jvmthread.StateDeadlocked {
					since[iv.Thread] = iv.Start
				}
			}
		}
		for _, s := range []jvmthread.State{jvmthread.StateBlocked, jvmthread.StateDeadlocked} {
			states[s].Count += w.Totals[s].Count
			states[s].Time += w.Totals[s].Time
		}
	})
	if a, b := since[h.Thread("A")], since[h.Thread("B")]; a != 9*at+at/2 || b != a {
		t.Errorf("deadlocked since %v and %v", a, b)
	}
	// In the window in which it closed, this was not known.
	if s := jvmthread.StateBlocked; states[s] != (window.Sum{Count: 2, Time: 1500 * time.Millisecond}) {
		t.Errorf("blocked: %v", states[s])
	}
	if s := jvmthread.StateDeadlocked; states[s] != (window.Sum{Count: 2, Time: 20*time.Second + 2}) { // up to the watermark
		t.Errorf("deadlocked: %v", states[s])
	}
}

// Deadlocks that ended because their threads had timed out, which no event reported, free their space, whether or not a caller requests the
// current deadlocks.
func TestEndedDeadlocksFreeSpace(t *testing.T) {
	const rounds = 1500
	var b strings.Builder
	for i := range rounds {
		at := i * int(4*time.Second)
		fmt.Fprintf(&b, "%d T0 contendedEnter lock=L1 owner=T1\n%d T1 contendedEnter lock=L0 owner=T0\n", at, at+1)
		fmt.Fprintf(&b, "%d X yield\n", at+int(2*time.Second))
		fmt.Fprintf(&b, "%d T0 contendedEntered lock=L1\n%d T1 contendedEntered lock=L0\n", at+int(3*time.Second), at+int(3*time.Second)+1)
	}
	e, found := deadlocks(t, b.String())
	if c := e.Counters().Deadlock; found != rounds || c.Overflow != 0 || len(e.Deadlocks()) != 0 {
		t.Errorf("%d deadlocks, %d of them current, %+v", found, len(e.Deadlocks()), c)
	}
}

// deadlocks runs a history to its end and counts the deadlocks.
func deadlocks(t *testing.T, history string) (e *drive.Session, found int) {
	t.Helper()
	h, err := threadtest.Parse(history)
	if err != nil {
		t.Fatal(err)
	}
	e = drive.New(engine.DefaultConfig(), nil)
	e.Add(ordering.Batch{Number: 1, Watermark: h.Events[len(h.Events)-1].Time + 1, Events: h.Events})
	e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) { found += len(w.Deadlocks) })
	return e, found
}
