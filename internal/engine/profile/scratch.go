// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"unsafe"

	"github.com/weft-otel/weft/internal/engine/recent"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Memory lends the memory for what holders did. Sessions share it: each needs it only while it looks at a window.
type Memory interface {
	Borrow() *Scratch
	Return(*Scratch)
}

// Scratch is the memory for the holds of one window, about 150 bytes for each.
type Scratch struct {
	locks   []lock
	index   map[jvmthread.LockID]int32            // in locks, plus one
	recent  recent.Cache[jvmthread.LockID, int32] // the same
	pieces  []piece
	edges   []edge
	holders []int32 // by edge: holders in the segment from it to the next one
	open    []int32
	most    int // edges of the largest window since the last call of Excessive
}

// NewScratch returns memory that grows on use.
func NewScratch() *Scratch { return &Scratch{index: make(map[jvmthread.LockID]int32)} }

// smallScratch is the number of edges for which memory is never excessive.
const smallScratch = 1 << 12

// Excessive reports whether all windows since its last call needed less than a quarter of the memory.
func (s *Scratch) Excessive() bool {
	most, room := s.most, cap(s.edges)
	s.most = 0
	return room > smallScratch && most < room/4
}

// Held estimates the bytes of the memory.
func (s *Scratch) Held() int {
	const perIndex = 40 // an entry of a map of locks
	return int(unsafe.Sizeof(lock{})+perIndex)*cap(s.locks) + int(unsafe.Sizeof(piece{}))*cap(s.pieces) + int(unsafe.Sizeof(edge{}))*cap(s.edges) +
		4*(cap(s.holders)+cap(s.open))
}

func (s *Scratch) clear() {
	s.most = max(s.most, len(s.edges))
	clear(s.index)
	s.recent.Clear()
	s.locks, s.pieces, s.edges = s.locks[:0], s.pieces[:0], s.edges[:0]
}

// borrow gets memory for a window.
func (s *split) borrow() {
	switch {
	case s.memory != nil:
		s.Scratch = s.memory.Borrow()
	case s.Scratch == nil || s.Excessive():
		s.Scratch = NewScratch()
	}
}

// release gives back borrowed memory.
func (s *split) release() {
	s.clear()
	if s.memory != nil {
		s.memory.Return(s.Scratch)
		s.Scratch = nil
	}
}
