// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/deadlock"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/window"
)

// Who comes to wait for a thread in a deadlock, on whatever way, finds a circle that is not its own: no search is cut for that.
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
		h, err := threadtest.Parse(b.String())
		if err != nil {
			t.Fatal(err)
		}
		e := engine.New(engine.DefaultConfig())
		e.AddBatch(1, 0, h.Events[len(h.Events)-1].Time+1, h.Events)
		found := 0
		e.Close(window.CutEnd, func(w *window.Window) { found += len(w.Deadlocks) })
		if c := e.Counters().Deadlock; found != 1 || c != (deadlock.Counters{}) {
			t.Errorf("%d threads: %d deadlocks, %+v", size, found, c)
		}
	}
}
