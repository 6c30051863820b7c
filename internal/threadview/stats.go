// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadview

import (
	"math"
	"math/bits"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/viewstore"
)

// tally adds up intervals.
type tally struct {
	count, time int64
	seen, sum   int64
	min, max    int64
	cells       []uint32 // by cell of their length, from cell base on
	base        int
}

// Lengths are counted in cells: eight for each power of two, so that a quantile is too large by less than an eighth.
const cellBits = 3

func cellOf(v int64) int {
	if v < 1<<cellBits {
		return int(max(v, 0))
	}
	e := bits.Len64(uint64(v)) - cellBits - 1
	return (e+1)<<cellBits + int(v>>e)&(1<<cellBits-1)
}

// cellEnd is the largest length in a cell.
func cellEnd(cell int) int64 {
	if cell < 1<<cellBits {
		return int64(cell)
	}
	e := cell>>cellBits - 1
	low := (int64(1)<<cellBits + int64(cell&(1<<cellBits-1))) << e
	return low + (int64(1)<<e - 1)
}

// add adds an interval of which a part lies in the range.
func (t *tally) add(began bool, part, length int64) {
	if began {
		t.count++
	}
	t.time += part
	if t.seen == 0 {
		t.min = math.MaxInt64
	}
	t.seen++
	t.sum += length
	t.min, t.max = min(t.min, length), max(t.max, length)
	c := cellOf(length)
	if len(t.cells) == 0 {
		t.base = c
	}
	if c < t.base {
		t.cells = append(make([]uint32, t.base-c, t.base-c+len(t.cells)), t.cells...)
		t.base = c
	}
	for c-t.base >= len(t.cells) {
		t.cells = append(t.cells, 0)
	}
	t.cells[c-t.base]++
}

// merge adds all that another one has.
func (t *tally) merge(o *tally) {
	if o.seen == 0 {
		t.count += o.count
		t.time += o.time
		return
	}
	if t.seen == 0 {
		t.min = math.MaxInt64
	}
	t.count += o.count
	t.time += o.time
	t.seen += o.seen
	t.sum += o.sum
	t.min, t.max = min(t.min, o.min), max(t.max, o.max)
	lo, hi := o.base, o.base+len(o.cells)
	if len(t.cells) > 0 {
		lo, hi = min(lo, t.base), max(hi, t.base+len(t.cells))
	}
	cells := make([]uint32, hi-lo)
	for i, n := range t.cells {
		cells[t.base+i-lo] += n
	}
	for i, n := range o.cells {
		cells[o.base+i-lo] += n
	}
	t.base, t.cells = lo, cells
}

func (t *tally) quantile(per100 int64) int64 {
	rank := (t.seen*per100 + 99) / 100
	for i, n := range t.cells {
		if rank -= int64(n); rank <= 0 {
			return min(max(cellEnd(t.base+i), t.min), t.max)
		}
	}
	return t.max
}

func (t *tally) stats() viewapi.Stats {
	s := viewapi.Stats{Count: t.count, Time: t.time, Seen: t.seen, Buckets: []int64{}}
	if t.seen == 0 {
		return s
	}
	s.Min, s.Max, s.Average = t.min, t.max, t.sum/t.seen
	s.P50, s.P95, s.P99 = t.quantile(50), t.quantile(95), t.quantile(99)
	power := func(cell int) int { return max(0, bits.Len64(uint64(cellEnd(cell)))-1) } //nolint:gosec // not negative
	s.First = power(t.base)
	s.Buckets = make([]int64, power(t.base+len(t.cells)-1)-s.First+1)
	for i, n := range t.cells {
		s.Buckets[power(t.base+i)-s.First] += int64(n)
	}
	return s
}

// kind is a way of standing still, as the tables tell them apart.
type kind uint8

const (
	kindNone kind = iota
	kindBlocked
	kindWaited
	kindReenter
	kindParked
	kindJoined
	kindSleeping
	numKinds
)

func kindWords() []string {
	return []string{"", "blocked", "waited", "reenter", "parked", "joined", "sleeping"}
}

// kindOf is what a state counts as. A deadlocked thread is blocked, for good.
func kindOf(s jvmthread.State) kind {
	switch s {
	case jvmthread.StateBlocked, jvmthread.StateDeadlocked:
		return kindBlocked
	case jvmthread.StateWaiting:
		return kindWaited
	case jvmthread.StateReentering:
		return kindReenter
	case jvmthread.StateParked:
		return kindParked
	case jvmthread.StateJoining:
		return kindJoined
	case jvmthread.StateSleeping:
		return kindSleeping
	case jvmthread.StateUnknown, jvmthread.StateRunnable, jvmthread.StateSuspended, jvmthread.StateDead:
	}
	return kindNone
}

// began reports whether a wait began within the range, and not only went on in another state.
func (q *query) began(c *viewstore.Cursor) bool { return c.Start >= q.from && !c.State.Continues() }

// set counts different things that have small numbers.
type set struct {
	words []uint64
	n     int
}

func (s *set) add(v int) {
	for v>>6 >= len(s.words) {
		s.words = append(s.words, 0)
	}
	if bit := uint64(1) << (v & 63); s.words[v>>6]&bit == 0 {
		s.words[v>>6] |= bit
		s.n++
	}
}

func (s *set) merge(o *set) {
	for i, w := range o.words {
		for ; w != 0; w &= w - 1 {
			s.add(i<<6 + bits.TrailingZeros64(w))
		}
	}
}
