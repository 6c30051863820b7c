// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import "math"

// share is what a session has of the store's bytes. The store's lock guards it.
//
// The session with the most bytes gives up its oldest window first. So a session that needs less than an equal part of the store keeps all of
// its windows, however much others want, and whether it is live or has ended: a dead JVM's last minutes are what somebody looks for. Only when
// the largest has less than a smallest part, windows of the session that ended first go, or thousands of short-lived JVMs would leave nothing to
// the live ones. The newest window of a live session stays while another one has more than an equal part.
type share struct {
	bytes     int64
	texts     int64 // of them, names and stacks, which stay as long as its windows
	incidents int64 // of them, incidents
	rest      int64 // of them, all that is left besides incidents; 0: it is live or has windows
	blocks    int
	live      bool
	ended     uint64 // how many sessions had ended before it
}

const (
	// smallest is the part of the store, as a divisor, down to which sessions that have ended are kept like live ones.
	smallest = 32
	// largest is the part of the store, as a divisor, that others make room for if the window of a session is larger than an equal part; and
	// the part that its names and stacks may take.
	largest = 8
	// allTexts is the part of the store, as a divisor, that the names and stacks of all sessions may take.
	allTexts = 2
)

// limit returns how many bytes the store may hold now. The caller holds the lock.
func (st *Store) limit() int64 { return min(st.maxBytes, st.bytes+st.budget.Room()) }

// settle counts the bytes of the store in the budget of the process. The caller holds the lock.
func (st *Store) settle() { st.budget.Change(int(st.budget.Held()), int(st.bytes)) }

// before reports whether a gives up a window before b does.
func (a *share) before(b *share, aBytes, bBytes int64) bool {
	switch {
	case aBytes != bBytes:
		return aBytes > bBytes
	case a.live != b.live:
		return b.live
	}
	return a.ended < b.ended
}

// victim returns the session that gives up a window so that another one gets more bytes, or nil if that one gets none.
func (st *Store) victim(s *Session, more int64) *Session {
	st.mu.Lock()
	defer st.mu.Unlock()
	limit := st.limit()
	var first, spare, oldest *Session
	wanted := func(x *Session) int64 {
		if x == s {
			return x.share.bytes + more
		}
		return x.share.bytes
	}
	for _, x := range st.sessions {
		h := &x.share
		if h.blocks == 0 && x != s {
			continue
		}
		if first == nil || h.before(&first.share, wanted(x), wanted(first)) {
			first = x
		}
		if h.blocks == 0 {
			continue
		}
		if (h.blocks > 1 || !h.live) && (spare == nil || h.before(&spare.share, wanted(x), wanted(spare))) {
			spare = x
		}
		if !h.live && (oldest == nil || h.ended < oldest.share.ended) {
			oldest = x
		}
	}
	switch {
	case first == nil:
		return nil
	case oldest != nil && wanted(first) < limit/smallest:
		return oldest
	case spare != nil && wanted(spare)*int64(len(st.sessions)-st.kept.rests) > limit:
		return spare
	case first.share.blocks > 0:
		return first
	case more > limit/largest:
		return nil
	}
	return st.next(s)
}

// next returns the session that gives up a window if one without windows needs room. The caller holds the lock.
func (st *Store) next(s *Session) (first *Session) {
	for _, x := range st.sessions {
		if x != s && x.share.blocks > 0 && (first == nil || x.share.before(&first.share, x.share.bytes, first.share.bytes)) {
			first = x
		}
	}
	return first
}

// reserve makes room for bytes of a session before it takes them. It reports whether there is room, and accounts for them in that case. The
// caller must not hold the session's state.
func (st *Store) reserve(s *Session, bytes int64) bool { return st.take(s, bytes, 0) }

// demand accounts for bytes of a session that it has already, of which some are texts, after it has made room for them as far as possible.
func (st *Store) demand(s *Session, bytes, texts int64) {
	if !st.take(s, bytes, texts) {
		st.add(s, bytes, texts, math.MaxInt64)
	}
}

func (st *Store) take(s *Session, bytes, texts int64) bool {
	if st.add(s, bytes, texts, st.maxBytes) {
		return true
	}
	st.evicting.Lock()
	defer st.evicting.Unlock()
	return st.evictFor(s, bytes, texts)
}

// evictFor evicts windows until there is room. The caller holds the lock of eviction.
func (st *Store) evictFor(s *Session, bytes, texts int64) bool {
	for !st.add(s, bytes, texts, st.maxBytes) {
		v := st.victim(s, bytes)
		if v == nil {
			return false
		}
		st.evict(v)
	}
	return true
}

// add accounts for bytes of a session, of which some are texts, if the store then has at most that many, or anyway if that is math.MaxInt64.
func (st *Store) add(s *Session, bytes, texts, most int64) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if bytes > 0 && most < math.MaxInt64 && st.bytes+bytes > min(most, st.limit()) {
		return false
	}
	st.count(s, bytes, texts)
	return true
}

// count accounts for bytes of a session, of which some are texts. The caller holds the lock.
func (st *Store) count(s *Session, bytes, texts int64) {
	st.bytes += bytes
	st.texts += texts
	s.share.bytes += bytes
	s.share.texts += texts
	st.settle()
}

// evict drops the oldest window of a session. If it was the last one of a session that has ended, only its incidents stay.
func (st *Store) evict(s *Session) {
	freed, ok := s.evict()
	st.mu.Lock()
	if ok {
		s.share.blocks--
		st.count(s, -freed, 0)
		st.evicted++
	} else { // cannot happen: windows are counted once they are there
		s.share.blocks = 0
	}
	empty := s.share.blocks == 0 && !s.share.live
	st.mu.Unlock()
	if empty {
		st.empty(s)
	}
}

// end notes that a session has ended.
func (st *Store) end(s *Session) {
	st.evicting.Lock()
	defer st.evicting.Unlock()
	st.mu.Lock()
	s.share.live, s.share.ended = false, st.ends
	st.ends++
	empty := s.share.blocks == 0
	st.mu.Unlock()
	if empty {
		st.empty(s)
	}
}

// pushed notes that a session has one more window.
func (st *Store) pushed(s *Session) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s.share.blocks++
}

// textRoom returns how many bytes of names and stacks a session may take.
func (st *Store) textRoom(s *Session) int64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	limit := st.limit()
	total := limit / allTexts
	own := limit/largest - s.share.texts
	return min(own, max(total-st.texts, total/int64(max(len(st.sessions)-st.kept.rests, 1))-s.share.texts))
}
