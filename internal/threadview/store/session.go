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
	id    jvmthread.SessionID
	sites *sites
	share share // guarded by the store

	// stable is held while a window is added, so that no snapshot shows half of it. The store may evict windows of the session meanwhile.
	stable sync.Mutex

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
	requests        map[uint32]requestPart // by thread: that have not ended
	dictBytes       int64                  // not accounted for yet; it includes textBytes
	textBytes       int64
	textRoom        int64 // for more of them
	pending         rawBuffer
	pendingBytes    int64 // accounted for
}

const sessionBytes = 4 << 10 // of an empty session, about

func newSession(st *Store, id jvmthread.SessionID) *Session {
	return &Session{
		store: st, id: id, sites: &sites{rules: st.rules}, now: facts{ID: id, Threads: make([]Thread, 1)}, classes: newTexts(), stacks: newTexts(), locks: newLocks(), dictBytes: sessionBytes,
		threadIDs: make(map[jvmthread.ThreadID]uint32), open: make(map[uint32]Interval), openHolds: make(map[holdKey]Hold),
		requests: make(map[uint32]requestPart), next: 1,
	}
}

// reopen prepares for the windows of a new engine.
func (s *Session) reopen(meta Meta) {
	s.stable.Lock()
	defer s.stable.Unlock()
	defer s.settle()
	s.closeOpen()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dictBytes += meta.size() - s.now.Meta.size()
	s.now.Meta, s.now.Live, s.now.Ended, s.fresh = meta, true, "", true
	s.translation = translation{}
	s.changed()
}

func (s *Session) changed() {
	s.now.Version++
	s.snapshot = nil
}

// Append takes a window that the session's engine has cut, and keeps copies only. A window for which there is no room is evicted at once.
func (s *Session) Append(w *window.Window, sym *symbols.Table) {
	defer s.store.touch()
	s.stable.Lock()
	defer s.stable.Unlock()
	b := s.copied(w, sym, s.store.textRoom(s))
	s.settle()
	if b.empty() && s.next > 1 { // a session without a block could not be evicted
		s.pass(w, sym, b)
		return
	}
	kept := s.store.reserve(s, b.size())
	rollup := s.append(w, sym, b, kept)
	if kept {
		s.store.pushed(s)
	}
	s.keepRollup(rollup)
}

// copied returns a copy of a window, whose new texts have room for so many bytes.
func (s *Session) copied(w *window.Window, sym *symbols.Table, textRoom int64) *Block {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.textRoom = textRoom
	return s.build(w, sym)
}

// append adds a window. It returns the roll-up that is due then, nil for none.
func (s *Session) append(w *window.Window, sym *symbols.Table, b *Block, kept bool) (c *Rollup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(b, kept)
	s.advance(w, sym, b)
	if kept {
		c = s.rollUp()
	}
	return c
}

// pass takes a window without storing its block.
func (s *Session) pass(w *window.Window, sym *symbols.Table, b *Block) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance(w, sym, b)
}

// advance notes what a window says of the session.
func (s *Session) advance(w *window.Window, sym *symbols.Table, b *Block) {
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
}

// settle accounts for names, threads, locks and events that wait for their window. A batch adds few of them, and windows make room for them.
func (s *Session) settle() {
	bytes, texts := s.takeUnsettled()
	s.store.demand(s, bytes, texts)
}

func (s *Session) takeUnsettled() (bytes, texts int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pending := s.pending.size()
	bytes, texts = s.dictBytes+pending-s.pendingBytes, s.textBytes
	s.dictBytes, s.textBytes, s.pendingBytes = 0, 0, pending
	s.now.Bytes += bytes
	return bytes, texts
}

// keep adds a block if there is room for it.
func (s *Session) keep(b *Block, room bool) {
	if !room {
		s.now.Evicted++
		return
	}
	s.push(b)
	s.now.Bytes += b.size()
}

// keepRollup adds a roll-up if there is room for it and its blocks are still there.
func (s *Session) keepRollup(c *Rollup) {
	if c == nil || !s.store.reserve(s, c.size) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.now.blocks) == 0 || s.now.blocks[0].number > c.first {
		s.store.add(s, -c.size, 0, 0)
		return
	}
	s.now.rollups = append(s.now.rollups, c)
	s.now.Bytes += c.size
	s.changed()
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

// Close states that no more windows will come, and why. Open intervals end where the last window does. Of a session without windows its
// incidents stay; without these, too, it is removed, since it could never be evicted.
func (s *Session) Close(why window.Cut) {
	defer s.store.touch()
	defer s.store.end(s)
	s.stable.Lock()
	defer s.stable.Unlock()
	defer s.settle()
	defer s.end(why) // even if a panic in a window has left what is open such that it cannot be closed
	s.closeOpen()
}

func (s *Session) end(why window.Cut) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Live, s.now.Ended = false, why
	s.pending = rawBuffer{}
	s.changed()
}

// closeOpen puts everything open into a block of its own, since the next engine does not know it.
func (s *Session) closeOpen() {
	b := s.takeOpen()
	if b == nil {
		return
	}
	kept := s.store.reserve(s, b.size())
	s.keepOpen(b, kept)
	if kept {
		s.store.pushed(s)
	}
}

func (s *Session) keepOpen(b *Block, kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(b, kept)
}

// takeOpen ends everything open, and returns it as a block; nil: there is nothing.
func (s *Session) takeOpen() *Block {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open)+len(s.openHolds)+len(s.requests)+s.pending.events == 0 {
		return nil
	}
	b := s.openBlock()
	s.closeRequests(b)
	b.raw = s.pack(math.MaxInt64) // events at the very end
	s.pending = rawBuffer{}
	for id := range s.open {
		s.now.Threads[id].Last = s.now.To
	}
	clear(s.open)
	clear(s.openHolds)
	return b
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
	for _, h := range slices.SortedFunc(maps.Values(s.openHolds), byEnd) {
		b.addHold(h)
	}
	b.finish()
	return b
}

// forgetEvery is how many blocks are evicted between two searches for unused threads and locks.
const forgetEvery = 64

// evict drops the oldest block. It returns its size, and false if there is none.
func (s *Session) evict() (freed int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.now.blocks) == 0 {
		return 0, false
	}
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
	s.now.Bytes -= freed
	return freed, true
}
