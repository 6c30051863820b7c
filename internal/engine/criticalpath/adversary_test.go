// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

const many = 100_000

func lockNo(n int) jvmthread.LockID { return jvmthread.LockID{Class: 1, Hash: uint32(n)} }

// lane returns the intervals, which end at the given times, as a lane that begins at 0.
func lane(thread int, list ...jvmthread.Interval) []jvmthread.Interval {
	at := jvmthread.Time(0)
	for i := range list {
		list[i].Thread, list[i].Seq, list[i].Start = jvmthread.ThreadID(thread), jvmthread.Seq(i+1), at
		at = list[i].End
	}
	return list
}

func bounded(t *testing.T, w *world, thread int, hi jvmthread.Time, limits criticalpath.Limits) *criticalpath.Path {
	t.Helper()
	g, p := criticalpath.New(limits), new(criticalpath.Path)
	w.fill(g)
	g.Unbounded(jvmthread.ThreadID(thread), 0, hi, p)
	assert.Less(t, p.Visited, 10*many)
	assert.Equal(t, hi, p.Segments[len(p.Segments)-1].End)
	r := new(criticalpath.Retiming)
	g.Retime(0, hi, r)
	for _, s := range r.AppendSavings(nil, jvmthread.ThreadID(thread), criticalpath.ByClass) {
		assert.LessOrEqual(t, s.Drag, s.Bound)
	}
	g.Bounded(jvmthread.ThreadID(thread), 0, hi, p)
	sum := jvmthread.Time(0)
	for _, s := range p.Segments {
		sum += s.End - s.Start
	}
	require.Equal(t, hi, sum)
	return p
}

// In a convoy of 100 000 holders, each holder was itself blocked on the lock since its start.
func TestLongConvoy(t *testing.T) {
	w := new(world)
	for i := range many {
		from := jvmthread.Time(i)
		w.lanes = append(w.lanes, lane(i+1, jvmthread.Interval{State: jvmthread.StateBlocked, Lock: lockNo(1), End: from},
			jvmthread.Interval{State: jvmthread.StateRunnable, End: many}))
		w.holds = append(w.holds, jvmthread.Hold{Lock: lockNo(1), Thread: jvmthread.ThreadID(i + 1), Start: from, End: from + 1})
	}
	p := bounded(t, w, many, many, criticalpath.Limits{})
	assert.Less(t, p.Visited, 4*many)
	assert.Len(t, p.Segments, many)
}

// In a chain of 100 000 threads, each waits for a lock that the next one holds: deeper than any path goes.
func TestDeepChain(t *testing.T) {
	w := new(world)
	for i := range many {
		w.lanes = append(w.lanes, lane(i+1, jvmthread.Interval{State: jvmthread.StateBlocked, Lock: lockNo(i + 1), End: 100}))
		w.holds = append(w.holds, jvmthread.Hold{Lock: lockNo(i + 1), Thread: jvmthread.ThreadID(i + 2), Start: 0, End: 100})
	}
	p := bounded(t, w, 1, 100, criticalpath.Limits{})
	assert.Equal(t, criticalpath.DefaultMaxDepth+1, p.Visited)
	assert.Equal(t, criticalpath.KindTooDeep, p.Segments[0].Kind)
	assert.Equal(t, 1, p.TooDeep)
}

// In a ring of threads that wait for each other by locks, joins or notifies, no time passes between cause and effect.
func TestRing(t *testing.T) {
	for _, state := range []jvmthread.State{jvmthread.StateBlocked, jvmthread.StateJoining, jvmthread.StateWaiting} {
		for _, size := range []int{1, 2, 10, many} {
			w := new(world)
			for i := range size {
				next := jvmthread.ThreadID((i+1)%size + 1)
				w.lanes = append(w.lanes, lane(i+1, jvmthread.Interval{State: state, Lock: lockNo(i + 1), Peer: next, End: 100}))
				switch state {
				case jvmthread.StateBlocked:
					w.holds = append(w.holds, jvmthread.Hold{Lock: lockNo(i + 1), Thread: next, Start: 0, End: 100})
				case jvmthread.StateWaiting:
					w.interactions = append(w.interactions, jvmthread.Interaction{
						Kind: jvmthread.InteractionNotify, CauseTime: 100, EffectTime: 100,
						From: jvmthread.IntervalRef{Thread: next, Seq: 1}, To: jvmthread.IntervalRef{Thread: jvmthread.ThreadID(i + 1), Seq: 1},
					})
				}
			}
			p := bounded(t, w, 1, 100, criticalpath.Limits{})
			assert.LessOrEqual(t, p.Visited, criticalpath.DefaultMaxDepth+1)
			assert.Len(t, p.Segments, 1)
		}
	}
}

// Thousands of threads contend for one lock all the time. A path is linear in the holds, not in the waiting threads.
func TestCrowd(t *testing.T) {
	const crowd = 5000
	w := new(world)
	for i := range crowd {
		var list []jvmthread.Interval
		for end := jvmthread.Time(i%2000 + 1); end <= many; end += 2000 {
			list = append(list, jvmthread.Interval{State: jvmthread.StateBlocked, Lock: lockNo(1), End: end})
		}
		w.lanes = append(w.lanes, lane(i+1, list...))
	}
	for i := range many {
		w.holds = append(w.holds, jvmthread.Hold{Lock: lockNo(1), Thread: jvmthread.ThreadID(crowd + 1 + i%3), Start: jvmthread.Time(i), End: jvmthread.Time(i + 1)})
	}
	p := bounded(t, w, 1, many, criticalpath.Limits{})
	assert.Less(t, p.Visited, 4*many)
}

// A hundred thousand intervals and waits of length zero have the same timestamp.
func TestEmptyIntervals(t *testing.T) {
	w := new(world)
	for id := range 2 {
		list := []jvmthread.Interval{{State: jvmthread.StateRunnable, End: 50}}
		for i := range many {
			list = append(list, jvmthread.Interval{State: jvmthread.StateWaiting, End: 50})
			w.interactions = append(w.interactions, jvmthread.Interaction{
				Kind: jvmthread.InteractionNotify, CauseTime: 50, EffectTime: 50,
				From: jvmthread.IntervalRef{Thread: jvmthread.ThreadID(2 - id), Seq: jvmthread.Seq(i + 1)},
				To:   jvmthread.IntervalRef{Thread: jvmthread.ThreadID(id + 1), Seq: jvmthread.Seq(i + 2)},
			})
		}
		w.lanes = append(w.lanes, lane(id+1, append(list, jvmthread.Interval{State: jvmthread.StateRunnable, End: 100})...))
	}
	p := bounded(t, w, 1, 100, criticalpath.Limits{})
	assert.Equal(t, 2, p.Visited)
}

// In 60 levels of locks, each level hands over to the next at every nanosecond. The visited pieces grow linearly with the depth, not
// exponentially.
func TestLevels(t *testing.T) {
	const levels, length = 60, 2000
	w := new(world)
	for i := range levels {
		var list []jvmthread.Interval
		for end := jvmthread.Time(1); end <= length; end++ {
			list = append(list, jvmthread.Interval{State: jvmthread.StateBlocked, Lock: lockNo(i + 1), End: end})
		}
		w.lanes = append(w.lanes, lane(i+1, list...))
		for at := range jvmthread.Time(length) {
			w.holds = append(w.holds, jvmthread.Hold{Lock: lockNo(i + 1), Thread: jvmthread.ThreadID(i + 2), Start: at, End: at + 1})
		}
	}
	p := bounded(t, w, 1, length, criticalpath.Limits{})
	assert.Less(t, p.Visited, 3*levels*length)
	p = bounded(t, w, 1, length, criticalpath.Limits{MaxPieces: 1000})
	assert.LessOrEqual(t, p.Visited, 1000)
	assert.Equal(t, criticalpath.KindCut, p.Segments[len(p.Segments)-1].Kind)
}

// Two threads block each other in turn, each time on another lock. Each lock delays all that follows: drags of most locks stay unknown.
func TestManyLocks(t *testing.T) {
	w := &world{lanes: make([][]jvmthread.Interval, 2)}
	for i := range many {
		end := jvmthread.Time(i + 1)
		w.lanes[i%2] = append(w.lanes[i%2], jvmthread.Interval{State: jvmthread.StateBlocked, Lock: lockNo(i + 1), End: end})
		w.lanes[1-i%2] = append(w.lanes[1-i%2], jvmthread.Interval{State: jvmthread.StateRunnable, End: end})
		w.holds = append(w.holds, jvmthread.Hold{Lock: lockNo(i + 1), Thread: jvmthread.ThreadID(2 - i%2), Start: end - 1, End: end})
	}
	w.lanes[0], w.lanes[1] = lane(1, w.lanes[0]...), lane(2, w.lanes[1]...)
	g, r := criticalpath.New(criticalpath.Limits{}), new(criticalpath.Retiming)
	w.fill(g)
	g.Retime(0, many, r)
	known := 0
	for _, s := range r.AppendSavings(nil, 1, criticalpath.ByLock) {
		assert.EqualValues(t, 1, s.Bound)
		if !s.Unknown {
			known++
			assert.Equal(t, s.Bound, s.Drag)
		}
	}
	assert.Equal(t, 256, known)
	assert.Len(t, r.AppendSavings(nil, 1, criticalpath.ByClass), 1)
}
