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
			l.Intervals = append(l.Intervals, iv)
			at = iv.End
		}
		w.Lanes = []*Lane{l}
		for range 50 {
			start := jvmthread.Time(100 + rng.IntN(1900))
			end := start + jvmthread.Time(rng.IntN(int(2000-start)+1))
			var got, want HolderTimes
			got.add(w, l, start, end)
			for i := range l.Intervals {
				want.part(l, i, start, end)
			}
			if got != want {
				t.Fatalf("[%d, %d): got %v, want %v", start, end, got, want)
			}
		}
	}
}
