// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math"
	"slices"
	"sort"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// At returns the interval in which a thread is at a time.
func (sn *Snapshot) At(thread int, t jvmthread.Time) (Interval, bool) {
	c := sn.Walk(thread, t, t+1)
	for c.Next() {
		if c.End > t {
			return c.Interval(), true
		}
	}
	return Interval{}, false
}

// Numbered returns the interval of a thread with a number that begins, ends or lies near a time: numbers are unique for one engine only.
func (sn *Snapshot) Numbered(thread int, seq jvmthread.Seq, near jvmthread.Time) (Interval, bool) {
	c := sn.Walk(thread, near-1, near+2)
	for c.Next() {
		if iv := c.Interval(); iv.Seq == seq {
			return iv, true
		}
	}
	return Interval{}, false
}

// Latest returns the newest interval of a thread with a number.
func (sn *Snapshot) Latest(thread int, seq jvmthread.Seq) (Interval, bool) {
	if iv, ok := sn.open[uint32(thread)]; ok && iv.Seq == seq {
		return iv, true
	}
	for _, k := range slices.Backward(sn.Threads[thread].chunks) {
		l := &k.block.lanes[k.lane]
		if n := k.block.laneLen(int(k.lane)); seq >= l.seq && int64(seq-l.seq) < int64(n) {
			i := int(l.first) + int(seq-l.seq)
			return k.block.interval(l, i, k.block.startOf(l, i)), true
		}
	}
	return Interval{}, false
}

// Before returns the interval of a thread that ends where another begins, or the last one before that.
func (sn *Snapshot) Before(iv *Interval) (Interval, bool) {
	all := sn.Threads[iv.Thread].chunks
	for at := sort.Search(len(all), func(i int) bool { return all[i].block.End > iv.Start }); at >= 0; at-- {
		if at == len(all) {
			continue
		}
		k := all[at]
		l := &k.block.lanes[k.lane]
		first, n := int(l.first), k.block.laneLen(int(k.lane))
		// The last one that ends at the start or before it, and is not the interval itself.
		i := first + sort.Search(n, func(i int) bool {
			return k.block.Start+jvmthread.Time(k.block.end.at(first+i)) > iv.Start
		}) - 1
		for ; i >= first; i-- {
			if before := k.block.interval(l, i, k.block.startOf(l, i)); before.Seq != iv.Seq {
				return before, true
			}
		}
	}
	return Interval{}, false
}

// After returns the interval of a thread that follows another.
func (sn *Snapshot) After(iv *Interval) (Interval, bool) {
	c := sn.Walk(iv.Thread, iv.End, math.MaxInt64)
	for c.Next() {
		if next := c.Interval(); next.Seq != iv.Seq && next.Start >= iv.End {
			return next, true
		}
	}
	return Interval{}, false
}

// blocksFrom returns the blocks whose end is at a time or behind it.
func (sn *Snapshot) blocksFrom(t jvmthread.Time) []*Block {
	return sn.blocks[sort.Search(len(sn.blocks), func(i int) bool { return sn.blocks[i].End >= t }):]
}

// Edges yields the interactions whose effect is in [from, to), in the order of their effects within each window, windows in order.
func (sn *Snapshot) Edges(from, to jvmthread.Time, yield func(Edge) bool) {
	sn.edges(from, to, 0, math.MaxUint64, yield)
}

// EdgesBefore yields those of the blocks before the rollups: all, if there is none.
func (sn *Snapshot) EdgesBefore(from, to jvmthread.Time, cover *Cover, yield func(Edge) bool) {
	if len(cover.Rollups) == 0 {
		sn.Edges(from, to, yield)
		return
	}
	sn.edges(from, to, 0, cover.first, yield)
}

// EdgesAfter yields those of the blocks behind the rollups.
func (sn *Snapshot) EdgesAfter(from, to jvmthread.Time, cover *Cover, yield func(Edge) bool) {
	if len(cover.Rollups) > 0 {
		sn.edges(from, to, cover.next, math.MaxUint64, yield)
	}
}

// edges yields those of blocks whose number is in [first, next).
func (sn *Snapshot) edges(from, to jvmthread.Time, first, next uint64, yield func(Edge) bool) {
	for _, b := range sn.blocksFrom(from) {
		if b.Start >= to || b.number >= next {
			return
		}
		if b.number < first {
			continue
		}
		e := &b.interactions
		first := sort.Search(e.len(), func(i int) bool { return b.Start+jvmthread.Time(e.effect.at(i)) >= from })
		for i := first; i < e.len(); i++ {
			ed := b.edge(i)
			if ed.Effect >= to {
				break
			}
			if !yield(ed) {
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
		for i := range b.interactions.len() {
			if ed := b.edge(i); ed.Cause >= from && ed.Cause < to && !yield(ed) {
				return
			}
		}
	}
}

// EdgesTo yields the interactions that let an interval go on.
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

// Holds yields the holds that overlap [from, to), in the order of their ends within each window; those that go on come last.
func (sn *Snapshot) Holds(from, to jvmthread.Time, yield func(Hold) bool) {
	sn.HoldsBeside(from, to, &Cover{}, yield)
}

// HoldsBeside yields those that are in no rollup.
func (sn *Snapshot) HoldsBeside(from, to jvmthread.Time, cover *Cover, yield func(Hold) bool) {
	for _, b := range sn.blocksFrom(from) {
		if b.firstHold >= to || b.number >= cover.first && b.number < cover.next {
			continue
		}
		t := &b.holds
		first := sort.Search(t.len(), func(i int) bool { return b.Start+jvmthread.Time(t.end.at(i)) > from })
		for i := first; i < t.len(); i++ {
			if h := b.hold(i); h.Start < to && !yield(h) {
				return
			}
		}
	}
	for _, h := range sn.openHolds {
		if h.Start < to && h.End > from && !yield(h) {
			return
		}
	}
}

// note finds what lets a search pass a block over.
func (b *Block) note() {
	b.firstCause, b.firstHold = math.MaxInt64, math.MaxInt64
	for i := range b.interactions.len() {
		b.firstCause = min(b.firstCause, b.edge(i).Cause)
	}
	for i := range b.holds.len() {
		b.firstHold = min(b.firstHold, b.hold(i).Start)
	}
}
