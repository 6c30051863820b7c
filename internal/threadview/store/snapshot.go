// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// facts are what a session and its snapshots have in common.
type facts struct {
	ID      jvmthread.SessionID
	Meta    Meta
	Live    bool
	Ended   window.Cut
	Version uint64
	Origin  jvmthread.Time // of the very first event
	To      jvmthread.Time // end of the known history

	Events, Lost, Missed uint64
	Evicted              int   // windows
	Bytes                int64 // in the store
	Counts               Counts
	Gaps                 []Gap
	Deadlocks            []Deadlock
	Incidents            []*Incident // the newest last; the list and its elements do not change
	Threads              []Thread    // 0 is none; indices that are not Known are free

	blocks  []*Block
	rollups []*Rollup
}

// Snapshot is a session at one version. It does not change and may be read concurrently.
type Snapshot struct {
	facts

	From       jvmthread.Time // start of the history that is kept
	KnownLocks int
	Classes    []string // by id; 0 is none
	Stacks     []string // by StackID, as Table.Whole of symbols; 0 is none
	Locks      []Lock   // by LockIndex; 0 is none

	sites   *sites
	decoder *zstd.Decoder
	ids     map[jvmthread.ThreadID]uint32

	poolsOnce sync.Once
	pools     []string

	groupsOnce sync.Once
	groups     Groups // of virtual threads

	poolGroupsOnce sync.Once
	poolGroups     Groups // of platform threads
}

// Snapshot returns the session as it is now: the same one until the session changes.
func (s *Session) Snapshot() *Snapshot {
	s.stable.Lock()
	defer s.stable.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snapshot != nil {
		return s.snapshot
	}
	sn := &Snapshot{
		facts: s.now, From: s.now.Origin, KnownLocks: len(s.locks.ids), Classes: s.classes.list, Stacks: s.stacks.list, Locks: s.locks.share(),
		sites: s.sites, decoder: s.store.decoder, ids: maps.Clone(s.threadIDs),
	}
	sn.Threads, sn.blocks = slices.Clone(s.now.Threads), slices.Clone(s.now.blocks)
	switch {
	case s.now.Evicted == 0:
	case len(s.now.blocks) > 0:
		sn.From = s.now.blocks[0].Start
	default:
		sn.From = s.now.To
	}
	if len(s.open)+len(s.openHolds)+len(s.requests) > 0 {
		b := s.openBlock()
		s.openRequests(b)
		b.open = true
		for i := range len(b.lanes) - 1 {
			t := &sn.Threads[b.lanes[i].thread]
			t.Last, t.open = sn.To, chunk{b, int32(i)}
		}
		sn.blocks = append(sn.blocks, b)
		sn.Counts.Intervals += len(s.open)
	}
	s.snapshot = sn
	return sn
}

// Thread returns the index of a thread, or 0.
func (sn *Snapshot) Thread(id jvmthread.ThreadID) int { return int(sn.ids[id]) }

// Class returns the name of the class of a lock.
func (sn *Snapshot) Class(l LockIndex) string { return sn.Classes[sn.Locks[l].Class] }

// Began returns when the engine began that cut the window around a time. Earlier windows come from another engine.
func (sn *Snapshot) Began(t jvmthread.Time) jvmthread.Time {
	if len(sn.blocks) == 0 {
		return sn.Origin
	}
	i := sort.Search(len(sn.blocks), func(i int) bool { return sn.blocks[i].End > t })
	return sn.blocks[min(i, len(sn.blocks)-1)].Begin
}

// Pools returns the pool of each thread: its name with a star in place of each number if another thread has the same, otherwise empty. The list
// is read-only.
func (sn *Snapshot) Pools() []string {
	sn.poolsOnce.Do(func() {
		sn.pools = make([]string, len(sn.Threads))
		count := make(map[string]int)
		for i := range sn.Threads {
			if t := &sn.Threads[i]; t.Known && t.Name != "" {
				sn.pools[i] = starred(t.Name)
				count[sn.pools[i]]++
			}
		}
		for i, p := range sn.pools {
			if p == "" || count[p] < 2 {
				sn.pools[i] = ""
			}
		}
	})
	return sn.pools
}

// starred replaces each number in a name by a star.
func starred(name string) string {
	if !strings.ContainsAny(name, "0123456789") {
		return name
	}
	out := make([]byte, 0, len(name))
	digits := false
	for i := range len(name) {
		if digit := name[i] >= '0' && name[i] <= '9'; digit != digits || !digit {
			if digit {
				out = append(out, '*')
			} else {
				out = append(out, name[i])
			}
			digits = digit
		}
	}
	return string(out)
}
