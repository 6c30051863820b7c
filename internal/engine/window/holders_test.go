// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"math/rand/v2"
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Prefix sums give the same holder times as a walk over the intervals.
func TestHolderTimesMatchWalk(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		w := &Window{Start: 100, End: 2000}
		l := &Lane{Thread: 1}
		for at := jvmthread.Time(50); at < 1900; {
			iv := jvmthread.Interval{Start: at, End: at + jvmthread.Time(rng.IntN(60)), State: jvmthread.State(rng.IntN(jvmthread.NumStates - 1))}
			l.Intervals.Append(&iv)
			at = iv.End
		}
		w.Lanes = []*Lane{l}
		for range 50 {
			start := jvmthread.Time(100 + rng.IntN(1900))
			end := start + jvmthread.Time(rng.IntN(int(2000-start)+1))
			var got, want HolderTimes
			got.add(w, l, start, end)
			for i := range l.Intervals.Len() {
				want.part(l, i, start, end)
			}
			if got != want {
				t.Fatalf("[%d, %d): got %v, want %v", start, end, got, want)
			}
		}
	}
}

// The holds that are left out because there may be too many do not overlap the wait.
func TestSharedHoldsOfAWait(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 13))
	semaphore := jvmthread.LockID{Class: 1, Hash: 1}
	for range 200 {
		var b Builder
		at := jvmthread.Time(0)
		for range random.IntN(60) {
			at += jvmthread.Time(random.IntN(5))
			b.holds = append(b.holds, jvmthread.Hold{
				Start: at - jvmthread.Time(1+random.IntN(1+int(at))), End: at, Lock: semaphore, Thread: jvmthread.ThreadID(random.IntN(9)), Marks: jvmthread.HoldShared,
			})
		}
		b.order.index = make(map[jvmthread.LockID]int32)
		b.sortHolds()
		overlap := func(holds []jvmthread.Hold, start, end jvmthread.Time) (n int) {
			for _, h := range holds {
				if h.Start < end && h.End > start {
					n++
				}
			}
			return n
		}
		start := jvmthread.Time(random.IntN(1 + int(at)))
		end := start + jvmthread.Time(random.IntN(20))
		have := b.window.HoldsOf(semaphore, start, end)
		if n, want := overlap(have, start, end), overlap(b.holds, start, end); n != want {
			t.Fatalf("%d of %d holds overlap %d..%d, want %d", n, len(have), start, end, want)
		}
	}
}
