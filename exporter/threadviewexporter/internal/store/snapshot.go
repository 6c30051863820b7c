// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"
	"sort"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Snapshot is a session at one version. It does not change and may be read concurrently.
type Snapshot struct {
	ID      jvmthread.SessionID
	Meta    Meta
	Live    bool
	Ended   window.Cut
	Version uint64
	Origin  jvmthread.Time // of the very first event
	From    jvmthread.Time // start of the history that is kept
	To      jvmthread.Time // end of the known history

	Events, Lost, Missed uint64
	Evicted              int
	Bytes                int64
	Counts               Counts
	Locks                int // known ones
	Gaps                 []Gap
	Deadlocks            []Deadlock
	Threads              []Thread // 0 is none; indices that are not Known are free

	decoder   *zstd.Decoder
	blocks    []*Block
	rollups   []*Rollup
	classes   []string
	stacks    []string
	locks     []Lock
	open      map[uint32]Interval
	openHolds []Hold
	ids       map[jvmthread.ThreadID]int

	poolsOnce sync.Once
	pools     []string
}

// Snapshot returns the session as it is now: the same one until the session changes.
func (s *Session) Snapshot() *Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snapshot != nil {
		return s.snapshot
	}
	sn := &Snapshot{
		ID: s.id, Meta: s.meta, Live: s.live, Ended: s.ended, Version: s.version, Origin: s.origin, From: s.origin, To: s.to,
		Events: s.events, Lost: s.lost, Missed: s.missed, Evicted: s.evicted, Bytes: s.bytes, Counts: s.counts, Locks: len(s.locks.ids),
		Gaps: slices.Clip(s.gaps), Deadlocks: slices.Clip(s.deadlocks), Threads: slices.Clone(s.threads), decoder: s.store.decoder,
		blocks: slices.Clone(s.blocks), rollups: slices.Clip(s.rollups), classes: s.classes.list, stacks: s.stacks.list, locks: s.locks.list,
		open: make(map[uint32]Interval, len(s.open)), ids: make(map[jvmthread.ThreadID]int, len(s.threadIDs)),
	}
	if s.evicted > 0 && len(s.blocks) > 0 {
		sn.From = s.blocks[0].Start
	}
	for id, iv := range s.open {
		iv.End = s.to
		sn.open[id] = iv
		sn.Threads[id].Last = s.to
	}
	for id, i := range s.threadIDs {
		sn.ids[id] = int(i)
	}
	sn.Counts.Intervals += len(sn.open)
	for _, h := range s.openHolds {
		sn.openHolds = append(sn.openHolds, h)
	}
	slices.SortFunc(sn.openHolds, func(a, b Hold) int { return int(a.Lock) - int(b.Lock) })
	s.snapshot = sn
	return sn
}

// Thread returns the index of a thread, or 0.
func (sn *Snapshot) Thread(id jvmthread.ThreadID) int { return sn.ids[id] }

// Class returns the name of the class of a lock.
func (sn *Snapshot) Class(l LockIndex) string { return sn.classes[sn.locks[l].Class] }

// ClassID returns the id of the class of a lock.
func (sn *Snapshot) ClassID(l LockIndex) uint32 { return sn.locks[l].Class }

// ClassName returns the name of a class.
func (sn *Snapshot) ClassName(id uint32) string { return sn.classes[id] }

// Hash returns the identity hash of a lock.
func (sn *Snapshot) Hash(l LockIndex) uint32 { return sn.locks[l].Hash }

// NumLocks is the largest LockIndex plus one.
func (sn *Snapshot) NumLocks() int { return len(sn.locks) }

// NumStacks is the largest StackID plus one.
func (sn *Snapshot) NumStacks() int { return len(sn.stacks) }

// Stack returns the text of a stack, one frame per line, innermost first.
func (sn *Snapshot) Stack(id StackID) string { return sn.stacks[id] }

// Began returns when the engine began that cut the window around a time. Earlier windows come from another engine.
func (sn *Snapshot) Began(t jvmthread.Time) jvmthread.Time {
	if len(sn.blocks) == 0 {
		return sn.Origin
	}
	i := sort.Search(len(sn.blocks), func(i int) bool { return sn.blocks[i].End > t })
	return sn.blocks[min(i, len(sn.blocks)-1)].Begin
}
