// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// A list returns what was added to it, also if intervals do not touch, skip numbers or are in deadlocks, and after it was used before.
func TestIntervalsReturnWhatWasAdded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var list jvmthread.Intervals
	for round := range 200 {
		list.Reset()
		var want []jvmthread.Interval
		seq, at := jvmthread.Seq(r.Uint32N(9)), jvmthread.Time(r.Int64N(99))
		for range r.IntN(200) + r.IntN(2)*r.IntN(2)*r.IntN(4000) {
			if round%2 == 1 && r.IntN(9) == 0 {
				seq, at = seq+jvmthread.Seq(r.Uint32N(3)), at+jvmthread.Time(r.Int64N(9)-4)
			}
			iv := jvmthread.Interval{
				Start: at, End: at + jvmthread.Time(r.Int64N(5)), Thread: 7, Peer: jvmthread.ThreadID(r.Uint64()), Timeout: r.Int64() - r.Int64(),
				Lock: jvmthread.LockID{Class: jvmthread.ClassID(r.Uint32()), Hash: r.Uint32()}, Stack: jvmthread.StackID(r.Uint32()), Seq: seq,
				State: jvmthread.State(r.IntN(jvmthread.NumStates)), Marks: jvmthread.Marks(r.IntN(256)),
				Was: jvmthread.State(r.IntN(jvmthread.NumStates)), Wait: jvmthread.Wait(r.IntN(jvmthread.NumWaits)),
			}
			if round%3 == 0 && r.IntN(9) == 0 {
				iv.Cycle = jvmthread.Cycle(r.Uint32())
			}
			want = append(want, iv)
			list.Append(&iv)
			seq, at = seq+1, iv.End
		}
		require.Equal(t, len(want), list.Len())
		contiguous := true
		for i, iv := range list.All() {
			require.Equal(t, want[i], iv)
			require.Equal(t, iv.Start, list.Start(i))
			require.Equal(t, iv.End, list.End(i))
			require.Equal(t, iv.Seq, list.Seq(i))
			require.Equal(t, iv.State, list.State(i))
			require.Equal(t, iv.Wait, list.Wait(i))
			contiguous = contiguous && (i == 0 || iv.Start == want[i-1].End && iv.Seq == want[i-1].Seq+1)
		}
		require.Equal(t, contiguous, list.Contiguous())
		if contiguous && len(want) > 0 {
			for i := range want {
				require.Equal(t, i, list.Index(want[i].Seq))
			}
			assert.Equal(t, -1, list.Index(want[0].Seq-1))
			assert.Equal(t, -1, list.Index(want[len(want)-1].Seq+1))
		}
	}
}
