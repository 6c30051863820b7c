// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import "github.com/weft-otel/weft/internal/jvmthread"

// recent is the last 1,024 sessions that were added.
type recent struct {
	ids  [1024]jvmthread.SessionID
	next int
}

func (r *recent) add(id jvmthread.SessionID) {
	r.ids[r.next%len(r.ids)] = id
	r.next++
}

func (r *recent) has(id jvmthread.SessionID) bool {
	for i := range min(r.next, len(r.ids)) {
		if r.ids[i] == id {
			return true
		}
	}
	return false
}
