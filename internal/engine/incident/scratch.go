// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"unsafe"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Memory lends the memory for incidents. Sessions share it: each needs it only while it looks at a window.
type Memory interface {
	Borrow() *Scratch
	Return(*Scratch)
}

// Scratch is the memory for the episodes of one window.
type Scratch struct {
	episodes episodes
	groups   []group
	most     int // waits of the largest window since the last call of Excessive
}

// NewScratch returns memory that grows on use.
func NewScratch() *Scratch {
	return &Scratch{episodes: episodes{index: make(map[Awaited]int32), parts: make(map[int32]jvmthread.Time), waiter: make(map[int32]int32)}}
}

// smallScratch is the number of waits for which memory is never excessive.
const smallScratch = 1 << 12

// Excessive reports whether all windows since its last call needed less than a quarter of the memory.
func (s *Scratch) Excessive() bool {
	most, room := s.most, cap(s.episodes.waits)
	s.most = 0
	return room > smallScratch && most < room/4
}

// borrow gets the memory for a window.
func (f *Finder) borrow() {
	switch {
	case f.Memory != nil:
		f.Scratch = f.Memory.Borrow()
	case f.Scratch == nil || f.Excessive():
		f.Scratch = NewScratch()
	}
}

// release gives back borrowed memory.
func (f *Finder) release() {
	f.most = max(f.most, len(f.episodes.waits))
	if f.Memory != nil {
		f.Memory.Return(f.Scratch)
		f.Scratch = nil
	}
}

// Held estimates the bytes of the incidents that are not over.
func (f *Finder) Held() (n int) {
	const perIncident, perWait, perHold, perLock, perActivity = 1 << 10, 400, 160, 160, 300
	for _, inc := range f.open {
		n += perIncident + perWait*cap(inc.Waits) + perHold*cap(inc.Holds) + perLock*cap(inc.Locks) +
			perActivity*len(inc.activities)
	}
	return n
}

// Held estimates the bytes of the memory.
func (s *Scratch) Held() int {
	const perIndex = 60 // an Awaited, and its entry in a map
	e := &s.episodes
	return int(unsafe.Sizeof(wait{}))*cap(e.waits) + 4*(cap(e.lanes)+cap(e.order)) + perIndex*cap(e.awaited) +
		int(unsafe.Sizeof(episode{}))*cap(e.list) + int(unsafe.Sizeof(group{}))*cap(s.groups)
}
