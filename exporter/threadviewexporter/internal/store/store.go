// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package store answers: what is remembered of sessions? It takes the windows that an engine cuts and keeps their intervals,
// interactions and holds in columns, some 55 bytes an interval, up to a limit of bytes; then whole windows leave, the oldest first.
//
// An interval is kept once, whole, in the window in which it ended: so its length is exact however often a window was cut while it lasted, and sums over
// any time range are exact too. What has not ended is kept beside the windows, and lasts to the end of what is known.
//
// A Store may be used by many goroutines. Windows come from one goroutine for each session; whoever asks gets a Snapshot, which does not
// change and holds up nobody.
package store

import (
	"cmp"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// DefaultMaxBytes is the default limit of a Store: some 4.5 million intervals.
const DefaultMaxBytes = 256 << 20

// Store remembers sessions.
type Store struct {
	maxBytes int64
	rollup   int // intervals
	pending  int // events of a session that belong to no window yet

	encoder *zstd.Encoder
	decoder *zstd.Decoder

	evicting sync.Mutex // held while windows leave, and while a session is opened: nobody is given one that is leaving

	mu       sync.Mutex
	sessions map[jvmthread.SessionID]*Session
	bytes    int64
	version  uint64
	removed  uint64 // sessions that have gone
	evicted  uint64 // windows that have gone
	changed  chan struct{}
}

// New returns an empty store that holds at most maxBytes, as far as whole windows can leave: the newest of a session stays.
func New(maxBytes int64) *Store {
	enc, dec := newCodec()
	return &Store{
		maxBytes: maxBytes, rollup: rollupIntervals, pending: maxPending, encoder: enc, decoder: dec,
		sessions: make(map[jvmthread.SessionID]*Session), changed: make(chan struct{}),
	}
}

// Stats says how full a store is.
type Stats struct {
	Bytes, MaxBytes  int64
	Sessions         int
	Evicted, Removed uint64 // windows and sessions that had to leave
}

// Stats says how full the store is.
func (st *Store) Stats() Stats {
	st.mu.Lock()
	defer st.mu.Unlock()
	return Stats{st.bytes, st.maxBytes, len(st.sessions), st.evicted, st.removed}
}

// Changed returns the version of the store, how many sessions have gone, and a channel that is closed at the next change.
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

// Sessions returns all sessions: live ones first, the newest of them before the others, then those that ended last.
func (st *Store) Sessions() []*Snapshot {
	st.mu.Lock()
	all := make([]*Session, 0, len(st.sessions))
	for _, s := range st.sessions {
		all = append(all, s)
	}
	st.mu.Unlock()
	list := make([]*Snapshot, 0, len(all))
	for _, s := range all {
		list = append(list, s.Snapshot())
	}
	slices.SortFunc(list, func(a, b *Snapshot) int {
		if a.Live != b.Live {
			if a.Live {
				return -1
			}
			return 1
		}
		if a.Live { // how far each is known changes all the time
			return cmp.Or(cmp.Compare(b.Origin, a.Origin), cmp.Compare(a.ID.String(), b.ID.String()))
		}
		return cmp.Or(cmp.Compare(b.To, a.To), cmp.Compare(a.ID.String(), b.ID.String()))
	})
	return list
}

// Open returns the session with this id, which is live from now on: a new one, or one that was lost and has come back. Its windows come from an
// engine that has just begun.
func (st *Store) Open(id jvmthread.SessionID, meta Meta) *Session {
	st.evicting.Lock()
	defer st.evicting.Unlock()
	st.mu.Lock()
	s := st.sessions[id]
	if s == nil {
		s = newSession(st, id)
		st.sessions[id] = s
	}
	st.mu.Unlock()
	st.touch(s.reopen(meta))
	return s
}

// touch tells everybody who waits that something changed, and accounts for bytes.
func (st *Store) touch(bytes int64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.version++
	st.bytes += bytes
	close(st.changed)
	st.changed = make(chan struct{})
}

// forgetEmpty lets a session leave that has ended without a window.
func (st *Store) forgetEmpty(s *Session) {
	st.evicting.Lock()
	defer st.evicting.Unlock()
	bytes, empty := s.empty()
	st.mu.Lock()
	defer st.mu.Unlock()
	if empty && st.sessions[s.id] == s {
		delete(st.sessions, s.id)
		st.bytes -= bytes
		st.removed++
	}
}

// shrink lets the oldest windows leave while there is too much. The newest window of each session stays while it is live.
func (st *Store) shrink() {
	st.evicting.Lock()
	defer st.evicting.Unlock()
	for {
		st.mu.Lock()
		if st.bytes <= st.maxBytes {
			st.mu.Unlock()
			return
		}
		all := make([]*Session, 0, len(st.sessions))
		for _, s := range st.sessions {
			all = append(all, s)
		}
		st.mu.Unlock()
		var oldest *Session
		var at jvmthread.Time
		for _, s := range all {
			if start, ok := s.oldest(); ok && (oldest == nil || start < at) {
				oldest, at = s, start
			}
		}
		if oldest == nil {
			return
		}
		freed, empty := oldest.evict()
		st.mu.Lock()
		st.bytes -= freed
		st.evicted++
		if empty {
			delete(st.sessions, oldest.id)
			st.removed++
		}
		st.mu.Unlock()
	}
}
