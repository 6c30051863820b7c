// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// In a simulated program, nothing is folded but short reentering and idle threads, and all of these are.
func TestFoldMinorFoldsNothingElse(t *testing.T) {
	folded := 0
	for seed := range uint64(40) {
		withWindow(t, seed, 2+int(seed%30), 1500, func(w *window.Window) {
			window.NewFinder().Find(w)
			w.FoldMinor()
			w.Select(1_000_000, 0)
			sources := make(map[jvmthread.IntervalRef]bool)
			for ia := range w.Interactions() {
				sources[ia.From] = true
			}
			for _, l := range w.Lanes {
				if l.Hidden {
					assert.Zero(t, l.Waits.Contended(), "program %d: thread %d", seed, l.Thread)
					continue
				}
				var sum window.Folded
				for i, iv := range l.Intervals.All() {
					short := iv.State == jvmthread.StateReentering && w.Length(iv) < 100*time.Microsecond
					want := !short || sources[jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}]
					assert.Equal(t, want, l.Kept(i), "program %d: %v of thread %d for %v", seed, iv.State, l.Thread, w.Length(iv))
					if !l.Kept(i) {
						sum.Count++
						sum.Time += w.Length(iv)
						folded++
					}
				}
				assert.Equal(t, sum, l.Folded, "program %d: thread %d", seed, l.Thread)
			}
		})
	}
	assert.Positive(t, folded)
}

// Who waits for the monitor after a notify is folded if that took less than 100 us.
func TestFoldMinorKeepsLongReentering(t *testing.T) {
	for took, folded := range map[int]uint64{99_999: 1, 100_000: 0} {
		h, err := threadtest.Parse(fmt.Sprintf("1 a threadStart\n1 b threadStart\n1000 a wait lock=queue\n2000 b notify lock=queue\n"+
			"3000 a waited lock=queue\n%d a waitReturned lock=queue\n900000 a yield\n", 3000+took))
		require.NoError(t, err)
		e := drive.New(engine.DefaultConfig(), h.Symbols())
		e.Add(ordering.Batch{Number: 1, Events: h.Events})
		e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) {
			w.FoldMinor()
			w.Select(2000, 0)
			assert.Equal(t, window.Folded{Count: folded, Time: time.Duration(folded) * time.Duration(took)}, w.Lanes[0].Folded)
			assert.Zero(t, w.Lanes[1].Folded)
		})
	}
}

// idlers is a history in which clients wait for a lock whose owner sleeps, one thread notifies another, and idle threads do nothing at all.
func idlers(t *testing.T, idle int, check func(w *window.Window, name func(jvmthread.ThreadID) string)) {
	t.Helper()
	var b strings.Builder
	for _, name := range []string{"client-1", "client-2", "holder", "caller", "called", "busy"} {
		fmt.Fprintf(&b, "1 %s threadStart\n", name)
	}
	for i := range idle {
		fmt.Fprintf(&b, "1 idle-%d threadStart\n", i)
	}
	b.WriteString("1000 holder sleepStart\n2000 called joinStart target=caller lock=thread\n" +
		"1000000 client-1 contendedEnter lock=book owner=holder\n1000000 client-2 contendedEnter lock=book owner=holder\n" +
		"1500 caller sleepStart\n2900000000 caller sleepEnd\n2900001000 caller threadEnd\n2900001500 called waited lock=thread\n2900002000 called joinEnd target=caller lock=thread\n" +
		"2900003000 called sleepStart\n")
	for i := range idle {
		fmt.Fprintf(&b, "2000 idle-%d sleepStart\n", i)
	}
	b.WriteString("2950000000 holder sleepEnd\n2950001000 client-1 contendedEntered lock=book\n2950100000 client-2 contendedEntered lock=book\n" +
		"3000000000 busy yield\n")
	h, err := threadtest.Parse(b.String())
	require.NoError(t, err)
	names := map[jvmthread.ThreadID]string{}
	for name := range strings.FieldsSeq(b.String()) {
		if strings.Contains(name, "-") || name == "holder" || name == "caller" || name == "called" || name == "busy" {
			names[h.Thread(name)] = name
		}
	}
	e := drive.New(engine.DefaultConfig(), h.Symbols())
	e.Add(ordering.Batch{Number: 1, Events: h.Events})
	e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) { check(w, func(id jvmthread.ThreadID) string { return names[id] }) })
}

// Idle threads are folded if there are many. The holder of a lock is not idle, although it sleeps.
func TestFoldMinorHidesIdleThreads(t *testing.T) {
	for idle, want := range map[int]int{5: 0, 40: 40} {
		idlers(t, idle, func(w *window.Window, name func(jvmthread.ThreadID) string) {
			window.NewFinder().Find(w)
			w.FoldMinor()
			w.Select(2000, 0)
			hidden := 0
			for _, l := range w.Lanes {
				if l.Hidden {
					hidden++
					assert.True(t, strings.HasPrefix(name(l.Thread), "idle-"), "%s is hidden", name(l.Thread))
				}
			}
			assert.Equal(t, want, hidden)
			assert.Equal(t, uint64(want), w.FoldedThreads().Count)
		})
	}
}
