// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

// The limits of incidents, for tests.
const (
	AllIncidents = allIncidents
	NewIncidents = newIncidents
)

// KeptBytes returns the bytes of all incidents and of sessions that have nothing else.
func (st *Store) KeptBytes() int64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.kept.bytes
}

// KeptBytes returns the bytes of a session's incidents and, if it has nothing else, of the rest of it.
func (s *Session) KeptBytes() int64 {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	return s.share.incidents + s.share.rest
}
