// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Session is one session in a store.
type Session struct {
	store *Store
	sites *sites

	mu       sync.Mutex
	now      facts
	snapshot *Snapshot // of this version; nil: not requested yet
	begun    bool
	begin    jvmthread.Time // of the first event of the current engine
	fresh    bool           // the engine has not cut a window yet
	next     uint64         // number of the next block
	loose    int            // intervals that are in no roll-up

	classes, stacks texts
	locks           locks
	threadIDs       map[jvmthread.ThreadID]uint32
	freeThreads     []uint32
	translation     translation
	open            map[uint32]Interval // by thread: intervals that have not ended
	openHolds       map[holdKey]Hold
	dictBytes       int64 // not accounted for yet
	pending         rawBuffer
}

func newSession(st *Store, id jvmthread.SessionID) *Session {
	const bytes = 4 << 10 // of an empty session, about
	return &Session{
		store: st, sites: &sites{rules: st.rules}, now: facts{ID: id, Threads: make([]Thread, 1)}, classes: newTexts(), stacks: newTexts(), locks: newLocks(), dictBytes: bytes,
		threadIDs: make(map[jvmthread.ThreadID]uint32), open: make(map[uint32]Interval), openHolds: make(map[holdKey]Hold), next: 1,
	}
}

// reopen prepares for the windows of a new engine.
func (s *Session) reopen(meta Meta) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes := s.closeOpen()
	s.dictBytes += meta.size() - s.now.Meta.size()
	bytes += s.account(nil)
	s.now.Meta, s.now.Live, s.now.Ended, s.fresh = meta, true, "", true
	s.translation, s.pending = translation{}, rawBuffer{}
	s.changed()
	return bytes
}

func (s *Session) changed() {
	s.now.Version++
	s.snapshot = nil
}

// Append takes a window that the session's engine has cut, and keeps copies only.
func (s *Session) Append(w *window.Window, sym *symbols.Table) {
	s.mu.Lock()
	b := s.build(w, sym)
	s.push(b)
	s.now.To = max(s.now.To, w.End)
	s.now.Events += w.Events
	s.now.Lost += w.Lost
	s.now.Missed += w.Missed
	s.addDeadlocks(w, sym)
	s.endDeadlocks(b)
	if w.Lost > 0 || w.Missed > 0 {
		s.now.Gaps = last(append(s.now.Gaps, Gap{w.Start, w.End, w.Lost, w.Missed}), maxGaps)
	}
	s.changed()
	bytes := s.account(b)
	s.mu.Unlock()
	s.store.touch(bytes)
	s.store.shrink()
}

// account returns by how many bytes the session has grown.
func (s *Session) account(b *Block) int64 {
	bytes := s.dictBytes
	s.dictBytes = 0
	if b != nil {
		bytes += b.size() + s.rollUp()
	}
	s.now.Bytes += bytes
	return bytes
}

// dropChunk removes the first chunk. Snapshots share the array, so it is not overwritten but replaced, before it keeps many evicted blocks.
func (t *Thread) dropChunk() {
	t.chunks = t.chunks[1:]
	if t.dropped++; t.dropped > len(t.chunks)/16 {
		t.chunks, t.dropped = slices.Clone(t.chunks), 0
	}
}

// push appends a block to the session, and its lanes to the threads.
func (s *Session) push(b *Block) {
	s.now.blocks = append(s.now.blocks, b)
	s.next++
	s.count(b, 1)
	for i := range len(b.lanes) - 1 {
		t := &s.now.Threads[b.lanes[i].thread]
		t.chunks = append(t.chunks, chunk{b, int32(i)})
	}
}

func (s *Session) count(b *Block, sign int) {
	s.now.Counts.Intervals += sign * len(b.state)
	s.now.Counts.Interactions += sign * len(b.interactions)
	s.now.Counts.Holds += sign * len(b.holds)
}

// Close states that no more windows will come, and why. Open intervals end where the last window does. A session without windows is removed,
// since it could never be evicted.
func (s *Session) Close(why window.Cut) {
	s.mu.Lock()
	s.now.Live, s.now.Ended = false, why
	bytes := s.closeOpen()
	s.changed()
	s.mu.Unlock()
	s.store.removeEmpty(s)
	s.store.touch(bytes)
	s.store.shrink()
}

// closeOpen puts everything open into a block of its own, since the next engine does not know it.
func (s *Session) closeOpen() int64 {
	if len(s.open) == 0 && len(s.openHolds) == 0 && s.pending.events == 0 {
		return 0
	}
	b := s.openBlock()
	b.raw = s.pending.take(math.MaxInt64, s.store.encoder) // events at the very end
	for id := range s.open {
		s.now.Threads[id].Last = s.now.To
	}
	clear(s.open)
	clear(s.openHolds)
	s.push(b)
	return s.account(b)
}

// openBlock returns a block of everything open, which ends where the last window does.
func (s *Session) openBlock() *Block {
	b := &Block{Start: s.now.To, End: s.now.To, Begin: s.begin, number: s.next}
	for _, id := range slices.Sorted(maps.Keys(s.open)) {
		iv := s.open[id]
		iv.End = s.now.To
		b.lanes = append(b.lanes, lane{start: iv.Start, thread: id, first: uint32(len(b.state)), seq: iv.Seq})
		b.add(&iv)
	}
	b.lanes = append(b.lanes, lane{first: uint32(len(b.state))})
	for _, id := range slices.Sorted(maps.Keys(s.openHolds)) {
		b.addHold(s.openHolds[id])
	}
	b.finish()
	return b
}

// oldest is the start of the oldest block that can be evicted.
func (s *Session) oldest() (jvmthread.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.now.blocks) == 0 || s.now.Live && len(s.now.blocks) == 1 {
		return 0, false
	}
	return s.now.blocks[0].Start, true
}

// gone reports whether the session has ended without a block, and how much it is accounted for.
func (s *Session) gone() (bytes int64, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.Bytes, len(s.now.blocks) == 0 && !s.now.Live
}

// forgetEvery is how many blocks are evicted between two searches for unused threads and locks.
const forgetEvery = 64

// evict drops the oldest block. It reports whether nothing is left of the session.
func (s *Session) evict() (freed int64, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.now.blocks[0]
	s.now.blocks[0] = nil
	s.now.blocks = s.now.blocks[1:]
	for i := range len(b.lanes) - 1 {
		if t := &s.now.Threads[b.lanes[i].thread]; len(t.chunks) > 0 && t.chunks[0].block == b {
			t.dropChunk()
		}
	}
	s.count(b, -1)
	s.now.Evicted++
	if s.now.Evicted%forgetEvery == 0 {
		s.forget()
	}
	s.changed()
	freed = b.size() + s.dropRollup(b.number)
	if gone = len(s.now.blocks) == 0 && !s.now.Live; gone {
		freed = s.now.Bytes
	}
	s.now.Bytes -= freed
	return freed, gone
}
