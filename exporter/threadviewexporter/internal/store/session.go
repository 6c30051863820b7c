// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math"
	"sync"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Meta is what a session says of its JVM: the attributes of its resource.
type Meta map[string]string

// Session is one session in a store.
type Session struct {
	id    jvmthread.SessionID
	store *Store

	mu        sync.Mutex
	meta      Meta
	live      bool
	ended     window.Cut
	version   uint64
	snapshot  *Snapshot // of this version; nil: nobody has asked
	begun     bool
	origin    jvmthread.Time // of the first event of all
	begin     jvmthread.Time // of the first event of the engine there is now
	fresh     bool           // its engine has not cut a window yet
	to        jvmthread.Time
	blocks    []*Block
	next      uint64 // number of the next block
	rollups   []*Rollup
	loose     int // intervals that are in none
	evicted   int
	events    uint64
	lost      uint64
	missed    uint64
	deadlocks []Deadlock
	gaps      []Gap

	classes, stacks texts
	locks           locks
	threads         []Thread // 0 is none
	threadIDs       map[jvmthread.ThreadID]uint32
	freeThreads     []uint32
	translation     translation
	open            map[uint32]Interval // by thread: what has not ended
	openHolds       map[uint32]Hold     // by lock
	dictBytes       int64               // since they were accounted for
	bytes           int64               // of everything in the store
	counts          Counts
	pending         rawBuffer
}

// Counts are what is in the blocks of a session.
type Counts struct {
	Intervals, Interactions, Holds int
}

// Deadlock is a cycle of threads.
type Deadlock struct {
	Cycle jvmthread.Cycle
	Since jvmthread.Time
	// Members are the threads, each with the lock that it wants. Each holds what the one before it wants.
	Members []Interval
	engine  jvmthread.Time // numbers of cycles are those of one engine
}

// Gap is a window in which events were lost.
type Gap struct {
	Start, End   jvmthread.Time
	Lost, Missed uint64
}

const (
	maxGaps      = 1000
	maxDeadlocks = 100
)

func newSession(st *Store, id jvmthread.SessionID) *Session {
	return &Session{
		id: id, store: st, classes: newTexts(), stacks: newTexts(), locks: newLocks(), threads: make([]Thread, 1), dictBytes: sessionBytes,
		threadIDs: make(map[jvmthread.ThreadID]uint32), open: make(map[uint32]Interval), openHolds: make(map[uint32]Hold), next: 1,
	}
}

// sessionBytes is about what a session takes apart from what is in it.
const sessionBytes = 4 << 10

func (m Meta) size() int64 {
	const perEntry = 64
	size := int64(perEntry * len(m))
	for key, value := range m {
		size += int64(len(key) + len(value))
	}
	return size
}

// reopen makes ready for the windows of a new engine.
func (s *Session) reopen(meta Meta) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes := s.closeOpen()
	s.dictBytes += meta.size() - s.meta.size()
	bytes += s.account(nil)
	s.meta, s.live, s.ended, s.fresh = meta, true, "", true
	s.translation = translation{}
	s.pending = rawBuffer{}
	s.changed()
	return bytes
}

// changed makes a new version.
func (s *Session) changed() {
	s.version++
	s.snapshot = nil
}

// Append takes a window that the session's engine has cut. Nothing of it is kept but copies.
func (s *Session) Append(w *window.Window, sym *symbols.Table) {
	s.mu.Lock()
	b := s.build(w, sym)
	s.push(b)
	s.to = max(s.to, w.End)
	for i := range w.Deadlocks {
		s.addDeadlock(w, i)
	}
	if w.Lost > 0 || w.Missed > 0 {
		s.gaps = append(s.gaps, Gap{w.Start, w.End, w.Lost, w.Missed})
		if len(s.gaps) > maxGaps {
			s.gaps = append([]Gap(nil), s.gaps[len(s.gaps)-maxGaps:]...)
		}
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
		bytes += b.size() + s.addUp()
	}
	s.bytes += bytes
	return bytes
}

// push appends a block to the session, and its lanes to those of its threads.
func (s *Session) push(b *Block) {
	s.blocks = append(s.blocks, b)
	s.next++
	s.events += b.Events
	s.lost += b.Lost
	s.missed += b.Missed
	s.counts.Intervals += len(b.state)
	s.counts.Interactions += b.interactions.len()
	s.counts.Holds += b.holds.len()
	for i := range len(b.lanes) - 1 {
		t := &s.threads[b.lanes[i].thread]
		t.chunks = append(t.chunks, chunk{b, int32(i)})
	}
}

// Close says that no window will come any more, and why. What was open ends where the last window does. A session of which there is no window
// is forgotten: nobody would ever make it leave.
func (s *Session) Close(why window.Cut) {
	s.mu.Lock()
	s.live, s.ended = false, why
	bytes := s.closeOpen()
	s.changed()
	s.mu.Unlock()
	s.store.forgetEmpty(s)
	s.store.touch(bytes)
	s.store.shrink()
}

// closeOpen puts what is open into a block of its own: the next engine knows nothing of it.
func (s *Session) closeOpen() int64 {
	if len(s.open) == 0 && len(s.openHolds) == 0 && s.pending.events == 0 {
		return 0
	}
	b := &Block{Start: s.to, End: s.to, Cut: s.ended, Begin: s.begin, number: s.next}
	b.raw = s.pending.take(math.MaxInt64, s.store.encoder) // events at the very end
	for id := range s.threads {
		iv, ok := s.open[uint32(id)]
		if !ok {
			continue
		}
		iv.End = s.to
		b.lanes = append(b.lanes, lane{start: iv.Start, thread: uint32(id), first: uint32(len(b.state)), seq: iv.Seq})
		b.add(&iv)
		s.threads[id].Last = s.to
	}
	b.lanes = append(b.lanes, lane{first: uint32(len(b.state))})
	for _, h := range s.openHolds {
		b.addHold(h)
	}
	clear(s.open)
	clear(s.openHolds)
	b.clip()
	s.push(b)
	return s.account(b)
}

// oldest is where the oldest block begins that may leave.
func (s *Session) oldest() (jvmthread.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.blocks) == 0 || s.live && len(s.blocks) == 1 {
		return 0, false
	}
	return s.blocks[0].Start, true
}

// empty reports whether nothing is remembered, and nothing will be, and what it takes all the same.
func (s *Session) empty() (bytes int64, empty bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes, len(s.blocks) == 0 && !s.live
}

// forgetEvery is after how many evicted blocks the numbers of threads and locks are looked through.
const forgetEvery = 64

// evict drops the oldest block. It reports whether the session is gone with it.
func (s *Session) evict() (freed int64, empty bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.blocks[0]
	s.blocks[0] = nil
	s.blocks = s.blocks[1:]
	for i := range len(b.lanes) - 1 {
		if t := &s.threads[b.lanes[i].thread]; len(t.chunks) > 0 && t.chunks[0].block == b {
			t.chunks = t.chunks[1:]
		}
	}
	s.counts.Intervals -= len(b.state)
	s.counts.Interactions -= b.interactions.len()
	s.counts.Holds -= b.holds.len()
	s.evicted++
	if s.evicted%forgetEvery == 0 {
		s.forget()
	}
	s.changed()
	freed = b.size() + s.dropRollup(b.number)
	if len(s.blocks) == 0 && !s.live {
		freed = s.bytes
	}
	s.bytes -= freed
	return freed, len(s.blocks) == 0 && !s.live
}
