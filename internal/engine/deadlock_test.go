// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/threadtest"
)

// Who comes to wait for a thread in a deadlock, on whatever way, finds a cycle that is not its own: no search is cut for that.
func TestVisitorsOfADeadlockCutNoSearch(t *testing.T) {
	for size := 2; size <= 20; size++ {
		var b strings.Builder
		for i := range size {
			fmt.Fprintf(&b, "%d T%d contendedEnter lock=L%d owner=T%d\n", 10+i, i, (i+1)%size, (i+1)%size)
		}
		for i := range 30 { // each waits for the one before
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

// Deadlocks that are over, since their threads had been waiting with a time-out that nobody told of, take nobody's place, whether anybody asks for those
// that stand or not.
func TestDeadlocksThatAreOverTakeNoPlace(t *testing.T) {
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
		t.Errorf("%d deadlocks, of which %d stand, %+v", found, len(e.Deadlocks()), c)
	}
}

// deadlocks runs a history to its end, and counts what was found.
func deadlocks(t *testing.T, history string) (e *engine.Engine, found int) {
	t.Helper()
	h, err := threadtest.Parse(history)
	if err != nil {
		t.Fatal(err)
	}
	e = engine.New(engine.DefaultConfig())
	e.AddBatch(1, 0, h.Events[len(h.Events)-1].Time+1, h.Events)
	e.Close(window.CutEnd, func(w *window.Window) { found += len(w.Deadlocks) })
	return e, found
}
