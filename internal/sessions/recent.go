// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import "github.com/weft-otel/weft/internal/jvmthread"

// Recent remembers the last 1 024 sessions that were added.
type Recent struct {
	ids  [1024]jvmthread.SessionID
	next int
}

// Add adds a session.
func (r *Recent) Add(id jvmthread.SessionID) {
	r.ids[r.next%len(r.ids)] = id
	r.next++
}

// Has reports whether a session is among them.
func (r *Recent) Has(id jvmthread.SessionID) bool {
	for i := range min(r.next, len(r.ids)) {
		if r.ids[i] == id {
			return true
		}
	}
	return false
}
