// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math"
	"math/bits"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Tally is the exact sums of intervals over a range. The tallies of parts can be merged.
type Tally struct {
	Count int64 // intervals that began within the range
	Time  int64 // within the range, in ns
	Seen  int64 // intervals that overlap the range
	Sum   int64 // of their full lengths, in ns
	Min   int64
	Max   int64
	cells []uint32 // by cell of their length, from cell base on
	base  int
}

// Lengths are counted in cells, eight per power of two, so a quantile is too large by less than an eighth.
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

// Add adds an interval that overlaps the range: count is 1 if it began within.
func (t *Tally) Add(count, time, length int64) {
	t.Count += count
	t.Time += time
	if t.Seen == 0 {
		t.Min = math.MaxInt64
	}
	t.Seen++
	t.Sum += length
	t.Min, t.Max = min(t.Min, length), max(t.Max, length)
	c := cellOf(length)
	t.reach(c, c+1)
	t.cells[c-t.base]++
}

// reach makes sure that there are cells from lo up to hi.
func (t *Tally) reach(lo, hi int) {
	if len(t.cells) == 0 {
		t.base = lo
	}
	if lo < t.base {
		t.cells = append(make([]uint32, t.base-lo, t.base-lo+len(t.cells)), t.cells...)
		t.base = lo
	}
	if n := hi - t.base - len(t.cells); n > 0 {
		t.cells = append(t.cells, make([]uint32, n)...)
	}
}

// Merge adds another tally.
func (t *Tally) Merge(o *Tally) {
	t.Count += o.Count
	t.Time += o.Time
	if o.Seen == 0 {
		return
	}
	if t.Seen == 0 {
		t.Min = math.MaxInt64
	}
	t.Seen += o.Seen
	t.Sum += o.Sum
	t.Min, t.Max = min(t.Min, o.Min), max(t.Max, o.Max)
	t.reach(o.base, o.base+len(o.cells))
	for i, n := range o.cells {
		t.cells[o.base-t.base+i] += n
	}
}

// Part adds the count and time of an interval whose length is not added, or is already: one whose wait continues, or, negative, the part before
// the range of one that was added in full.
func (t *Tally) Part(count, time int64) {
	t.Count += count
	t.Time += time
}

// begun counts a wait: 0 for an interval that only continues one.
func begun(m jvmthread.Marks) int64 {
	if m.Has(jvmthread.MarkContinues) {
		return 0
	}
	return 1
}

// Quantile is the length that so many percent of the intervals do not exceed; too large by less than an eighth.
func (t *Tally) Quantile(per100 int64) int64 {
	rank := (t.Seen*per100 + 99) / 100
	for i, n := range t.cells {
		if rank -= int64(n); rank <= 0 {
			return min(max(cellEnd(t.base+i), t.Min), t.Max)
		}
	}
	return t.Max
}

// Buckets counts lengths by powers of two: the first bucket is [2^first, 2^(first+1)), and that of 2^0 includes 0.
func (t *Tally) Buckets() (first int, counts []int64) {
	if t.Seen == 0 {
		return 0, []int64{}
	}
	power := func(cell int) int { return max(0, bits.Len64(uint64(cellEnd(cell)))-1) }
	first = power(t.base)
	counts = make([]int64, power(t.base+len(t.cells)-1)-first+1)
	for i, n := range t.cells {
		counts[power(t.base+i)-first] += int64(n)
	}
	return first, counts
}

const tallyBytes = 6*8 + 24 + 8

// Pack frees unused memory.
func (t *Tally) Pack() { t.cells = exact(t.cells) }

// Bytes is the size of a packed tally.
func (t *Tally) Bytes() int64 { return tallyBytes + 4*int64(len(t.cells)) }

// Set is a set of small numbers.
type Set struct {
	words []uint64
	n     int
}

// Add adds a number.
func (s *Set) Add(v int) {
	for v>>6 >= len(s.words) {
		s.words = append(s.words, 0)
	}
	if bit := uint64(1) << (v & 63); s.words[v>>6]&bit == 0 {
		s.words[v>>6] |= bit
		s.n++
	}
}

// Len is how many different numbers it has.
func (s *Set) Len() int { return s.n }

// List returns the numbers, sorted.
func (s *Set) List() []int {
	list := make([]int, 0, s.n)
	for at, word := range s.words {
		for ; word != 0; word &= word - 1 {
			list = append(list, at<<6+bits.TrailingZeros64(word))
		}
	}
	return list
}

// Merge adds another set.
func (s *Set) Merge(o *Set) { s.mergeWords(0, o.words) }

func (s *Set) mergeWords(at int, words []uint64) {
	if n := at + len(words) - len(s.words); n > 0 {
		s.words = append(s.words, make([]uint64, n)...)
	}
	for i, w := range words {
		s.n += bits.OnesCount64(w &^ s.words[at+i])
		s.words[at+i] |= w
	}
}

// Packed is a set that no longer changes: a bit for each number from the smallest to the largest, or a list, whichever is smaller.
type Packed struct {
	first int // word of bits
	bits  []uint64
	list  []uint32
}

// Pack returns a set of numbers, which it sorts.
func Pack(numbers []uint32) Packed {
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	if len(numbers) == 0 {
		return Packed{}
	}
	first, last := int(numbers[0]>>6), int(numbers[len(numbers)-1]>>6)
	if 2*(last-first+1) > len(numbers) {
		return Packed{list: exact(numbers)}
	}
	p := Packed{first: first, bits: make([]uint64, last-first+1)}
	for _, v := range numbers {
		p.bits[int(v>>6)-first] |= 1 << (v & 63)
	}
	return p
}

// AddTo adds the numbers to a set.
func (p *Packed) AddTo(s *Set) {
	s.mergeWords(p.first, p.bits)
	for _, v := range p.list {
		s.Add(int(v))
	}
}

const packedBytes = 8 + 2*24

// Bytes is its size.
func (p *Packed) Bytes() int64 { return packedBytes + 8*int64(len(p.bits)) + 4*int64(len(p.list)) }
