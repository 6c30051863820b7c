// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math"
	"slices"
	"sort"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// At returns the interval of a thread at a time.
func (sn *Snapshot) At(thread int, t jvmthread.Time) (Interval, bool) {
	return first(sn.Walk(thread, t, t+1), func(c *Cursor) bool { return c.End > t })
}

// Numbered returns the interval of a thread with a number that includes or touches a time. Numbers are unique only within one engine.
func (sn *Snapshot) Numbered(thread int, seq jvmthread.Seq, near jvmthread.Time) (Interval, bool) {
	return first(sn.Walk(thread, near-1, near+2), func(c *Cursor) bool { return c.seq() == seq })
}

// After returns the interval of a thread that follows another.
func (sn *Snapshot) After(iv *Interval) (Interval, bool) {
	return first(sn.Walk(iv.Thread, iv.End, math.MaxInt64), func(c *Cursor) bool { return c.Start >= iv.End && c.seq() != iv.Seq })
}

// Last returns the last interval of the wait of which an interval is a part.
func (sn *Snapshot) Last(part Interval) Interval {
	for part.Marks.Has(jvmthread.MarkWillContinue) {
		next, ok := sn.After(&part)
		if !ok || !next.Marks.Has(jvmthread.MarkContinues) {
			break
		}
		part = next
	}
	return part
}

func first(c Cursor, wanted func(c *Cursor) bool) (Interval, bool) {
	for c.Next() {
		if wanted(&c) {
			return c.Interval(), true
		}
	}
	return Interval{}, false
}

func (c *Cursor) seq() jvmthread.Seq {
	return c.lane.seq + jvmthread.Seq(c.at) - jvmthread.Seq(c.lane.first)
}

// Latest returns the newest interval of a thread with a number.
func (sn *Snapshot) Latest(thread int, seq jvmthread.Seq) (Interval, bool) {
	t := &sn.Threads[thread]
	if k := t.open; k.block != nil && k.block.lanes[k.lane].seq == seq {
		return Ref{k.block, k.lane, k.block.lanes[k.lane].first}.Interval(), true
	}
	for _, k := range slices.Backward(t.chunks) {
		l := &k.block.lanes[k.lane]
		if n := k.block.laneLen(int(k.lane)); seq >= l.seq && int64(seq-l.seq) < int64(n) {
			return Ref{k.block, k.lane, l.first + uint32(seq-l.seq)}.Interval(), true
		}
	}
	return Interval{}, false
}

// Before returns the interval of a thread that ends where another begins, or the last one before that.
func (sn *Snapshot) Before(iv *Interval) (Interval, bool) {
	all := sn.Threads[iv.Thread].chunks
	at := sort.Search(len(all), func(i int) bool { return all[i].block.End > iv.Start })
	for at = min(at, len(all)-1); at >= 0; at-- {
		b, l := all[at].block, &all[at].block.lanes[all[at].lane]
		first, n := int(l.first), b.laneLen(int(all[at].lane))
		i := first + sort.Search(n, func(i int) bool { return b.endAt(first+i) > iv.Start }) - 1
		for ; i >= first; i-- {
			if before := b.interval(l, i, b.startOf(l, i)); before.Seq != iv.Seq {
				return before, true
			}
		}
	}
	return Interval{}, false
}

// blocksFrom returns the blocks that end at a time or later.
func (sn *Snapshot) blocksFrom(t jvmthread.Time) []*Block {
	return sn.blocks[sort.Search(len(sn.blocks), func(i int) bool { return sn.blocks[i].End >= t }):]
}

// Edges yields the interactions whose effect is in [from, to), by effect.
func (sn *Snapshot) Edges(from, to jvmthread.Time, yield func(Edge) bool) {
	sn.edges(from, to, 0, math.MaxUint64, yield)
}

// edges yields those of the blocks with numbers in [first, next).
func (sn *Snapshot) edges(from, to jvmthread.Time, first, next uint64, yield func(Edge) bool) {
	for _, b := range sn.blocksFrom(from) {
		if b.Start >= to || b.number >= next {
			return
		}
		if b.number < first {
			continue
		}
		for i := sort.Search(len(b.interactions), func(i int) bool { return b.effectAt(i) >= from }); i < len(b.interactions); i++ {
			e := b.edge(i)
			if e.Effect >= to {
				break
			}
			if !yield(e) {
				return
			}
		}
	}
}

// EdgesCaused yields the interactions whose cause is in [from, to), in no order.
func (sn *Snapshot) EdgesCaused(from, to jvmthread.Time, yield func(Edge) bool) {
	for _, b := range sn.blocksFrom(from) {
		if b.firstCause >= to {
			continue
		}
		for i := range b.interactions {
			if e := b.edge(i); e.Cause >= from && e.Cause < to && !yield(e) {
				return
			}
		}
	}
}

// EdgesTo yields the interactions that started or ended an interval.
func (sn *Snapshot) EdgesTo(iv *Interval, yield func(Edge) bool) {
	for _, at := range [2]jvmthread.Time{iv.Start, iv.End} {
		sn.Edges(at, at+1, func(e Edge) bool {
			starts := e.Kind == jvmthread.InteractionStart
			if e.To == iv.Thread && e.ToSeq == iv.Seq && (starts && at == iv.Start || !starts && at == iv.End) {
				return yield(e)
			}
			return true
		})
		if iv.Start == iv.End {
			return
		}
	}
}

// Holds yields the holds that overlap [from, to), by their ends within each window; those so far come last.
func (sn *Snapshot) Holds(from, to jvmthread.Time, yield func(Hold) bool) {
	sn.uncoveredHolds(from, to, &Cover{}, yield)
}

func (sn *Snapshot) uncoveredHolds(from, to jvmthread.Time, cover *Cover, yield func(Hold) bool) {
	for _, b := range sn.blocksFrom(from) {
		if b.firstHold >= to || b.number >= cover.first && b.number < cover.next {
			continue
		}
		for i := sort.Search(len(b.holds), func(i int) bool { return b.holdEnd(i) > from }); i < len(b.holds); i++ {
			if h := b.hold(i); h.Start < to && !yield(h) {
				return
			}
		}
	}
}

// Fitting returns the start of the longest range of whole windows that ends at a time, begins not before another, and has at most so many
// intervals; false if there is none.
func (sn *Snapshot) Fitting(from, to jvmthread.Time, most int) (jvmthread.Time, bool) {
	fits, ok := to, false
	n := len(sn.Threads) // each may have one that ends later
	for _, b := range slices.Backward(sn.blocks) {
		if b.open || b.Start >= to {
			continue
		}
		if n += len(b.state); n > most || b.Start < from {
			break
		}
		fits, ok = b.Start, true
	}
	return fits, ok
}

// Slices yields consecutive parts of a range, cut where windows begin. Each has at most so many intervals and holds, unless one window has more.
func (sn *Snapshot) Slices(from, to jvmthread.Time, most int, yield func(from, to jvmthread.Time)) {
	n := 0
	for _, b := range sn.blocksFrom(from) {
		if b.Start >= to {
			break
		}
		more := len(b.state) + len(b.holds)
		if n > 0 && n+more > most && b.Start > from {
			yield(from, b.Start)
			from, n = b.Start, 0
		}
		n += more
	}
	if from < to {
		yield(from, to)
	}
}
