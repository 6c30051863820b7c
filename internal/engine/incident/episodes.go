// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/engine/recent"
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// wait is the piece of a wait in a window that counts.
type wait struct {
	start, end jvmthread.Time
	lane, at   int32
	lock       int32 // index in awaited
	episode    int32
	continues  bool // the wait began in the interval before
}

// episode is a time in which threads waited for a lock.
type episode struct {
	start, end  jvmthread.Time
	time        jvmthread.Time // the sum of its waits
	lock        int32          // index in awaited
	first, last int32          // its waits, in order
	cycle       jvmthread.Cycle
	parent      int32 // of which it is a consequence; itself: of none
	next        int32 // of the same group; -1: none
	group       int32 // of which it is the root; -1: none yet
	carried     bool  // it began before the window
	open        bool  // it is not over at the end of the window
}

// episodes are those of a window. Their memory is reused.
type episodes struct {
	waits   []wait  // by lane and time
	lanes   []int32 // by lane: index of its first wait
	order   []int32 // waits by lock and time
	awaited []Awaited
	index   map[Awaited]int32
	recent  recent.Cache[Awaited, int32] // the same, plus one
	list    []episode

	starved jvmthread.Time // the sum of the waits for carriers

	parts  map[int32]jvmthread.Time // scratch: by episode, for how long a holder waited in it
	waiter map[int32]int32          // scratch: by lock of a wait for a pool, the lane that waits, or several
	steps  int                      // left for the search for parents
}

// find finds the waits of a window that count.
func (e *episodes) find(w *window.Window) {
	e.starved = 0
	e.waits, e.lanes, e.order, e.awaited, e.list = e.waits[:0], e.lanes[:0], e.order[:0], e.awaited[:0], e.list[:0]
	clear(e.index)
	e.recent.Clear()
	for n, l := range w.Lanes {
		e.lanes = append(e.lanes, int32(len(e.waits)))
		if l.Waits.Contended().Time == 0 && l.Waits[jvmthread.WaitCarrier].Time == 0 {
			continue
		}
		for i := range l.Intervals.Len() {
			kind := l.Intervals.Wait(i)
			if !kind.Contended() && !starves(kind, l.Intervals.End(i)-l.Intervals.Start(i)) {
				continue
			}
			start, end := max(l.Intervals.Start(i), w.Start), min(l.Intervals.End(i), w.End)
			if start < end {
				lock := e.lock(awaitedBy(kind, l.Intervals.Lock(i), l.Intervals.Stack(i)))
				if kind == jvmthread.WaitCarrier {
					e.starved += end - start
				}
				e.waits = append(e.waits, wait{start: start, end: end, lane: int32(n), at: int32(i), lock: lock, continues: l.Intervals.Began(i) < start})
			}
		}
	}
	e.lanes = append(e.lanes, int32(len(e.waits)))
}

// form orders the waits and forms their episodes.
func (e *episodes) form(w *window.Window) {
	for i := range e.waits {
		e.order = append(e.order, int32(i))
	}
	slices.SortFunc(e.order, func(x, y int32) int {
		a, b := &e.waits[x], &e.waits[y]
		if a.lock == b.lock && a.start == b.start && a.continues != b.continues {
			if a.continues {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.lock, b.lock), cmp.Compare(a.start, b.start), cmp.Compare(x, y))
	})
	e.split(w)
}

// starved is the time from which on a wait for a carrier counts. A busy scheduler always has waits that are shorter.
const starved = timeline.LongMount

// starves reports whether a wait is one for a carrier that counts, given its length so far. The pieces of one wait count from the window on in
// which it becomes that long.
func starves(kind jvmthread.Wait, length jvmthread.Time) bool {
	return kind == jvmthread.WaitCarrier && length >= starved
}

// Counts reports whether incidents contain an interval.
func Counts(iv *jvmthread.Interval) bool {
	return iv.Wait.Contended() || starves(iv.Wait, iv.End-iv.Start)
}

func (e *episodes) lock(id Awaited) int32 {
	hash := id.hash()
	if at := e.recent.Get(hash, id); at > 0 {
		return at - 1
	}
	at, ok := e.index[id]
	if !ok {
		at = int32(len(e.awaited))
		e.index[id] = at
		e.awaited = append(e.awaited, id)
	}
	e.recent.Put(hash, id, at+1)
	return at
}

// split splits the ordered waits where no thread waits. A thread that begins to wait at the moment when the last one stops does not continue
// the episode.
func (e *episodes) split(w *window.Window) {
	for i, n := range e.order {
		wt := &e.waits[n]
		at := len(e.list) - 1
		if at < 0 || e.list[at].lock != wt.lock || e.list[at].end < wt.start || e.list[at].end == wt.start && !wt.continues {
			at++
			e.list = append(e.list, episode{start: wt.start, end: wt.end, lock: wt.lock, first: int32(i), parent: int32(at), next: -1, group: -1})
		}
		ep := &e.list[at]
		wt.episode, ep.last = int32(at), int32(i)
		ep.end = max(ep.end, wt.end)
		ep.time += wt.end - wt.start
		iv := w.Lanes[wt.lane].Intervals.At(int(wt.at))
		if iv.Cycle != 0 && iv.State == jvmthread.StateDeadlocked {
			ep.cycle = iv.Cycle
		}
		ep.carried = ep.carried || carried(w, &iv)
		ep.open = ep.open || open(w, &iv)
	}
}

// carried reports whether a wait began before the window.
func carried(w *window.Window, iv *jvmthread.Interval) bool {
	return iv.Start < w.Start || iv.Start == w.Start && iv.Marks.Has(jvmthread.MarkContinues)
}

// open reports whether a wait is not over at the end of the window.
func open(w *window.Window, iv *jvmthread.Interval) bool {
	return iv.Marks.Has(jvmthread.MarkOpen) && iv.End >= w.End
}
