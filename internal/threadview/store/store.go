// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package store answers: what happened in each session? It keeps the intervals, interactions and holds of the windows that an engine cuts in
// columns of about 55 bytes per interval, up to a limit; then it evicts whole windows, see share. The worst incidents of a session outlive its
// windows, see keptIncidents.
//
// An interval is kept once, in the window in which it ended, so lengths and sums over any range are exact. Open intervals are kept separately
// and last until the end of the known history. Roll-ups are sums of consecutive windows, so that long ranges need not be scanned.
//
// A Store may be used concurrently. The windows of a session come from one goroutine; readers get an immutable Snapshot and never block writers.
package store

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// DefaultMaxBytes is the default limit of a Store: about 4.5 million intervals.
const DefaultMaxBytes = 256 << 20

// Store keeps sessions.
type Store struct {
	maxBytes int64
	rollup   int // intervals
	pending  int // events of a session that belong to later windows
	encoder  *zstd.Encoder
	decoder  *zstd.Decoder
	rules    *waits.Rules
	budget   *budget.Budget // of the process; nil: no other limit than maxBytes

	plain    sync.Pool  // *[]byte: batches before they are compressed
	evicting sync.Mutex // held during eviction and while a session is found, so that no session is returned that is being removed

	mu       sync.Mutex // the last one to be locked
	sessions map[jvmthread.SessionID]*Session
	bytes    int64  // of all sessions
	texts    int64  // of them, names and stacks
	ends     uint64 // sessions that have ended so far
	version  uint64
	removed  uint64 // sessions
	evicted  uint64 // windows
	kept     keptIncidents
	changed  chan struct{}
}

// SetRules replaces the rules that find which code waits. Call it before the first session.
func (st *Store) SetRules(rules *waits.Rules) { st.rules = rules }

// SetBudget makes the store count its bytes in a budget, and give up windows if that has less room than the store's own limit. Call it before
// the first session. The caller closes the budget after the last one.
func (st *Store) SetBudget(b *budget.Budget) { st.budget = b }

// New returns an empty store that holds at most maxBytes. The rules find which code waits; nil: the default ones.
func New(maxBytes int64, rules *waits.Rules) *Store {
	if rules == nil {
		rules = waits.NewRules(waits.Config{})
	}
	enc, dec := newCodec()
	return &Store{
		maxBytes: maxBytes, rollup: rollupIntervals, pending: maxPending, encoder: enc, decoder: dec, rules: rules,
		sessions: make(map[jvmthread.SessionID]*Session), changed: make(chan struct{}),
	}
}

// Stats is how full a store is.
type Stats struct {
	Bytes, MaxBytes  int64
	Sessions         int
	Evicted, Removed uint64 // windows and sessions
	Incidents        int
	Dropped          uint64 // incidents
}

// Stats returns how full the store is.
func (st *Store) Stats() Stats {
	st.mu.Lock()
	defer st.mu.Unlock()
	return Stats{st.bytes, st.maxBytes, len(st.sessions), st.evicted, st.removed, st.kept.count, st.kept.dropped}
}

// Changed returns the version of the store, how many sessions were removed, and a channel that is closed by the next change.
func (st *Store) Changed() (version, removed uint64, next <-chan struct{}) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.version, st.removed, st.changed
}

// Session returns a session, or nil.
func (st *Store) Session(id jvmthread.SessionID) *Session {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.sessions[id]
}

func (st *Store) all() []*Session {
	st.mu.Lock()
	defer st.mu.Unlock()
	return slices.Collect(maps.Values(st.sessions))
}

// Sessions returns all sessions: live ones first, the newest first, then the others, the last to end first.
func (st *Store) Sessions() []*Snapshot {
	var live, ended []*Snapshot
	for _, s := range st.all() {
		if sn := s.Snapshot(); sn.Live {
			live = append(live, sn)
		} else {
			ended = append(ended, sn)
		}
	}
	byID := func(a, b *Snapshot) int { return cmp.Compare(a.ID.String(), b.ID.String()) }
	slices.SortFunc(live, func(a, b *Snapshot) int { return cmp.Or(cmp.Compare(b.Origin, a.Origin), byID(a, b)) }) // their ends change all the time
	slices.SortFunc(ended, func(a, b *Snapshot) int { return cmp.Or(cmp.Compare(b.To, a.To), byID(a, b)) })
	return append(live, ended...)
}

// Open returns the session with this id, which is live from now on: a new one, or one that was lost and came back. Its windows come from a
// new engine.
func (st *Store) Open(id jvmthread.SessionID, meta Meta) *Session {
	s := st.find(id)
	s.reopen(meta)
	st.touch()
	return s
}

// find returns the session with this id, which is not removed from now on.
func (st *Store) find(id jvmthread.SessionID) *Session {
	st.evicting.Lock()
	defer st.evicting.Unlock()
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.sessions[id]
	if s == nil {
		s = newSession(st, id)
		st.sessions[id] = s
	}
	s.share.live = true
	st.revive(s)
	return s
}

// touch wakes all that wait for a change.
func (st *Store) touch() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.version++
	close(st.changed)
	st.changed = make(chan struct{})
}
