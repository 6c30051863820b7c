// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Density returns for how long threads were in each state, in each step of a range: by state and step, in ns; empty for a state in which
// nobody was. has says, by index, which threads count.
func (sn *Snapshot) Density(from, to, step jvmthread.Time, has []bool) [][]int64 {
	d := density{from: from, to: to, step: step}
	steps := int((to - from + step - 1) / step)
	for s := range d.time {
		d.time[s] = make([]int64, steps)
	}
	for _, b := range sn.blocksFrom(from) {
		for i := range len(b.lanes) - 1 {
			// Of a block behind the range the first interval of a lane may have begun in it.
			if l := &b.lanes[i]; l.start < to && has[l.thread] {
				d.lane(b, l.start, int(l.first), int(b.lanes[i+1].first))
			}
		}
	}
	for id, iv := range sn.open {
		if has[id] {
			d.enter(iv.Start)
			d.add(iv.State, iv.Start, iv.End)
		}
	}
	out := make([][]int64, len(d.time))
	for s, list := range d.time {
		out[s] = []int64{}
		if slices.ContainsFunc(list, func(t int64) bool { return t != 0 }) {
			out[s] = list
		}
	}
	return out
}

type density struct {
	from, to, step jvmthread.Time
	time           [jvmthread.NumStates][]int64
	at             int            // step at hand
	next           jvmthread.Time // where it ends
}

// enter goes to the step of a time.
func (d *density) enter(t jvmthread.Time) {
	d.at = int(max(0, t-d.from) / d.step)
	d.next = d.from + jvmthread.Time(d.at+1)*d.step
}

// lane adds the intervals of a lane, each of which begins where the one before it ends.
func (d *density) lane(b *Block, start jvmthread.Time, first, stop int) {
	d.enter(start)
	for i := first; i < stop && start < d.to; i++ {
		end := b.Start + jvmthread.Time(b.end.at(i))
		d.add(b.state[i], start, end)
		start = end
	}
}

// add adds an interval that does not begin before the step at hand.
func (d *density) add(state jvmthread.State, start, end jvmthread.Time) {
	start, end = max(start, d.from), min(end, d.to)
	list := d.time[state]
	for start < end {
		if start >= d.next {
			d.enter(start)
		}
		stop := min(end, d.next)
		list[d.at] += int64(stop - start)
		start = stop
	}
}
