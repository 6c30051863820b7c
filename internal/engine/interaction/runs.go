// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

// HandoffRuns counts the handoffs of one lock and finds runs among them. A handoff run is consecutive handoffs, each by the thread that
// received the lock in the previous one. The runs of consecutive parts of a history can be merged.
type HandoffRuns[T comparable] struct {
	Handoffs    uint32
	Longest     uint32 // handoffs in the longest run
	first, last T      // the first thread to hand over, and the last one to receive
	head, tail  uint32 // handoffs in the first and in the last run
}

// Add appends a handoff. It returns the handoff's position in its run: 1 if it starts a new one.
func (r *HandoffRuns[T]) Add(from, to T) (position uint32) {
	r.Merge(HandoffRuns[T]{1, 1, from, to, 1, 1})
	return r.tail
}

// Merge appends the handoffs that came later.
func (r *HandoffRuns[T]) Merge(later HandoffRuns[T]) {
	switch {
	case later.Handoffs == 0:
		return
	case r.Handoffs == 0:
		*r = later
		return
	}
	head, tail := r.head, later.tail
	longest := max(r.Longest, later.Longest)
	if r.last == later.first {
		longest = max(longest, r.tail+later.head)
		if r.head == r.Handoffs {
			head += later.head
		}
		if later.tail == later.Handoffs {
			tail += r.tail
		}
	}
	*r = HandoffRuns[T]{r.Handoffs + later.Handoffs, longest, r.first, later.last, head, tail}
}
