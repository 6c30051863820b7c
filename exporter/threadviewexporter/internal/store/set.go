// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math/bits"
	"slices"
)

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
		return Packed{list: append(make([]uint32, 0, len(numbers)), numbers...)}
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
