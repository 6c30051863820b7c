// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// returning knows the last batch of sessions that were lost, or have ended. Their agents may return, and repeat what they did not see
// acknowledged. Guarded by sessions.mu.
type returning struct {
	last  map[jvmthread.SessionID]uint64
	order []jvmthread.SessionID // the next one to forget first
}

// maxReturning is how many sessions are known. Batches of others may be delivered again if their agents return.
const maxReturning = 1024

// add notes a session that is gone.
func (r *returning) add(id jvmthread.SessionID, last uint64) {
	if r.last == nil {
		r.last = make(map[jvmthread.SessionID]uint64)
	}
	if len(r.order) == maxReturning {
		delete(r.last, r.order[0])
		r.order = slices.Delete(r.order, 0, 1)
	}
	r.last[id] = last
	r.order = append(r.order, id)
}

// take returns the last batch of a session that is gone, or 0, and forgets it.
func (r *returning) take(id jvmthread.SessionID) (last uint64) {
	last, ok := r.last[id]
	if !ok {
		return 0
	}
	delete(r.last, id)
	r.order = slices.DeleteFunc(r.order, func(other jvmthread.SessionID) bool { return other == id })
	return last
}
