// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// Held by is the thread that held the lock for the longest part of the wait, whoever owned it when the wait began.
func TestHolders(t *testing.T) {
	tests := []struct{ name, events, want string }{
		{
			"the owner at first held it shortly",
			"0 T contendedEnter lock=L owner=A\n5 B contendedEnter lock=L owner=A\n10 B contendedEntered lock=L\n12 B sleepStart\n90 B sleepEnd\n100 T contendedEntered lock=L",
			"B 90 sleeping, A 10 runnable",
		},
		{
			"the same for a lock of java.util.concurrent",
			"0 T park lock=L owner=A\n5 B park lock=L owner=A\n10 A unpark target=B\n11 B unparked\n12 B sleepStart\n90 B sleepEnd\n100 B unpark target=T\n101 T unparked",
			"B 89 sleeping, A 10 runnable",
		},
		{
			"many short sleeps are longer than one run",
			"0 T park lock=L owner=A\n15 A sleepStart\n20 A sleepEnd\n21 A sleepStart\n28 A sleepEnd\n29 A sleepStart\n36 A sleepEnd\n37 A unpark target=T\n38 T unparked",
			"A 37 sleeping",
		},
		{"a thread that was faster", "0 T park lock=L owner=A\n10 A unpark target=T\n11 T unparked\n12 T park lock=L owner=B\n50 B unpark target=T\n52 T unparked", "B 38 runnable"},
		{"no owner is known", "0 T contendedEnter lock=L\n100 T yield", ""},
		{"a wait that is not for a lock", "0 T wait lock=L\n100 A notify lock=L\n101 T waited lock=L", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h, err := threadtest.Parse("0 T threadStart\n0 A threadStart\n0 B threadStart\n" + test.events)
			if err != nil {
				t.Fatal(err)
			}
			names := map[jvmthread.ThreadID]string{h.Thread("A"): "A", h.Thread("B"): "B"}
			e := drive.New(engine.DefaultConfig(), nil)
			e.Add(ordering.Batch{Number: 1, Watermark: h.Events[len(h.Events)-1].Time + 1, Events: h.Events})
			e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) {
				var last jvmthread.Interval
				for _, l := range w.Lanes {
					for _, iv := range l.Intervals.All() {
						if l.Thread == h.Thread("T") && iv.Wait != jvmthread.WaitNone {
							last = iv
						}
					}
				}
				var got []string
				for _, holder := range w.Holders(&last, nil, 2) {
					got = append(got, fmt.Sprintf("%s %d %s", names[holder.Thread], holder.Time, holder.Doing.State))
				}
				if have := strings.Join(got, ", "); have != test.want {
					t.Errorf("have %q, want %q", have, test.want)
				}
			})
		})
	}
}
