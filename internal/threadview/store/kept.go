// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

// keptIncidents is what the store has of incidents. The store's lock guards it.
//
// Incidents outlive their windows. They have a part of the store, shared by the same rule as windows: the session with the most bytes of them
// gives up one first, or, if even that one has little, the session that ended first. What is left of a session without windows counts, too.
type keptIncidents struct {
	bytes   int64
	count   int
	rests   int    // sessions that have ended and have no windows
	dropped uint64 // incidents, because of a limit
}

// keep adds an incident to a session if there is room for it. It replaces the session's one with the same ID.
func (st *Store) keep(s *Session, inc *Incident) {
	st.evicting.Lock()
	defer st.evicting.Unlock()
	st.dropIncident(s, &inc.IncidentID)
	size := inc.size()
	if len(s.incidents()) >= MaxIncidents {
		st.dropIncident(s, nil)
	}
	room := st.evictFor(s, size, 0)
	if room && !st.trim(s, size) {
		st.add(s, -size, 0, 0)
		room = false
	}
	if room {
		s.pushIncident(inc, size)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if !room {
		st.kept.dropped++
		return
	}
	s.share.incidents += size
	st.kept.bytes += size
	st.kept.count++
}

// trim drops incidents until there is room for more bytes of a session. The caller holds the lock of eviction.
func (st *Store) trim(s *Session, more int64) bool {
	for {
		v, over := st.overfull(s, more)
		if !over {
			return true
		}
		if v == nil || !st.dropIncident(v, nil) {
			return false
		}
	}
}

// overfull reports whether incidents take too much, and the session that gives up one, or nil.
func (st *Store) overfull(s *Session, more int64) (first *Session, over bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	most := st.limit() / allIncidents
	if st.kept.bytes+more <= most {
		return nil, false
	}
	wanted := func(x *Session) int64 {
		if x == s {
			return x.share.incidents + x.share.rest + more
		}
		return x.share.incidents + x.share.rest
	}
	var oldest *Session
	for _, x := range st.sessions {
		h := &x.share
		if h.incidents == 0 && x != s {
			continue
		}
		if first == nil || h.before(&first.share, wanted(x), wanted(first)) {
			first = x
		}
		if h.incidents > 0 && !h.live && (oldest == nil || h.ended < oldest.share.ended) {
			oldest = x
		}
	}
	if oldest != nil && wanted(first) < most/smallest {
		return oldest, true
	}
	return first, true
}

// dropIncident drops an incident of a session: that with an ID, or, to make room, the least important one. The session goes if nothing else is
// left of it. The caller holds the lock of eviction.
func (st *Store) dropIncident(s *Session, id *IncidentID) bool {
	freed, ok := s.dropIncident(id)
	if !ok {
		return false
	}
	st.mu.Lock()
	st.count(s, -freed, 0)
	s.share.incidents -= freed
	st.kept.bytes -= freed
	st.kept.count--
	if id == nil {
		st.kept.dropped++
	}
	gone := s.share.rest > 0 && s.share.incidents == 0
	st.mu.Unlock()
	if gone {
		st.empty(s)
	}
	return true
}

// empty reduces a session that has ended and has no windows to its incidents, or removes it if it has none. The caller holds the lock of
// eviction.
func (st *Store) empty(s *Session) {
	if len(s.incidents()) > 0 {
		left := s.strip()
		st.mu.Lock()
		rest := left - s.share.incidents
		st.kept.bytes += rest - s.share.rest
		if s.share.rest == 0 {
			st.kept.rests++
		}
		s.share.rest = rest
		st.count(s, left-s.share.bytes, -s.share.texts)
		st.mu.Unlock()
		st.trim(s, 0)
		return
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.sessions[s.id] != s {
		return
	}
	st.revive(s)
	st.count(s, -s.share.bytes, -s.share.texts)
	delete(st.sessions, s.id)
	st.removed++
}

// revive notes that a session is not only what is left of it: it gets windows again, or goes. The caller holds the locks of eviction and of
// the store.
func (st *Store) revive(s *Session) {
	if s.share.rest > 0 {
		st.kept.bytes -= s.share.rest
		st.kept.rests--
		s.share.rest = 0
	}
}
