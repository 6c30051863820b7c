// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Sweep yields the intervals of threads that overlap [from, to), each of a thread in the order of time, block by block: which is how they lie in
// memory. has says, by index, which threads count. The cursor is good until yield returns.
func (sn *Snapshot) Sweep(from, to jvmthread.Time, has []bool, yield func(c *Cursor)) {
	c := Cursor{to: to, last: openIsOver}
	for _, b := range sn.blocksFrom(from) {
		c.block = b
		for i := range len(b.lanes) - 1 {
			l := &b.lanes[i]
			if l.start >= to || !has[l.thread] {
				continue
			}
			c.lane, c.thread = l, int(l.thread)
			c.End = l.start
			for c.at = int(l.first); c.at < int(b.lanes[i+1].first) && c.End < to; c.at++ {
				c.Start, c.End = c.End, b.Start+jvmthread.Time(b.end.at(c.at))
				if c.End > from || c.Start >= from {
					c.State, c.Marks = b.state[c.at], b.marks[c.at]
					yield(&c)
				}
			}
		}
	}
	open := make([]uint32, 0, len(sn.open))
	for id := range sn.open {
		open = append(open, id)
	}
	slices.Sort(open)
	c.last = openIsHere
	for _, id := range open {
		iv := sn.open[id]
		if has[id] && iv.Start < to && (iv.End > from || iv.Start >= from) {
			c.open, c.thread = iv, int(id)
			c.Start, c.End, c.State, c.Marks = iv.Start, iv.End, iv.State, iv.Marks
			yield(&c)
		}
	}
}
