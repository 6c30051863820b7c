// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import "github.com/weft-otel/weft/internal/jvmthread"

// Carriers calls yield for each living thread on which a virtual thread was mounted, with the virtual thread that is mounted on it now, or
// NoThread. After a gap it omits those whose mounts may have been lost, until their next one. The order varies.
func (t *Timeline) Carriers(yield func(carrier, carried jvmthread.ThreadID) bool) {
	for carrier, carried := range t.carriers {
		if !yield(carrier, carried) {
			return
		}
	}
}

// carry notes which virtual thread is mounted on a carrier.
func (t *Timeline) carry(carrier, carried jvmthread.ThreadID) {
	if carrier == jvmthread.NoThread {
		return
	}
	if _, ok := t.carriers[carrier]; !ok && len(t.carriers) >= t.maxThreads {
		t.counters.Refused++
		return
	}
	if t.carriers == nil {
		t.carriers = make(map[jvmthread.ThreadID]jvmthread.ThreadID)
	}
	t.carriers[carrier] = carried
}

// leave notes that a virtual thread is no longer on its carrier, which may have another one since the same nanosecond.
func (t *Timeline) leave(carrier, virtual jvmthread.ThreadID) {
	if carried, ok := t.carriers[carrier]; !ok || carried == virtual {
		t.carry(carrier, jvmthread.NoThread)
	}
}
