// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"github.com/weft-otel/weft/internal/engine/recent"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// carriers knows the virtual thread on each carrier, or NoThread.
type carriers struct {
	carried map[jvmthread.ThreadID]*jvmthread.ThreadID
	recent  recent.Cache[jvmthread.ThreadID, *jvmthread.ThreadID]
}

// Carriers calls yield for each living thread on which a virtual thread was mounted, with the virtual thread that is mounted on it now, or
// NoThread. After a gap it omits those whose mounts may have been lost, until their next one. The order varies.
func (t *Timeline) Carriers(yield func(carrier, carried jvmthread.ThreadID) bool) {
	for carrier, carried := range t.carriers.carried {
		if !yield(carrier, *carried) {
			return
		}
	}
}

func (c *carriers) find(carrier jvmthread.ThreadID) *jvmthread.ThreadID {
	carried := c.recent.Get(uint32(carrier), carrier)
	if carried == nil {
		if carried = c.carried[carrier]; carried != nil {
			c.recent.Put(uint32(carrier), carrier, carried)
		}
	}
	return carried
}

// forget drops a carrier, if it is one.
func (c *carriers) forget(carrier jvmthread.ThreadID) {
	if c.carried[carrier] != nil {
		c.recent.Clear()
		delete(c.carried, carrier)
	}
}

func (c *carriers) clear() {
	c.recent.Clear()
	clear(c.carried)
}

// carry notes which virtual thread is mounted on a carrier.
func (t *Timeline) carry(carrier, carried jvmthread.ThreadID) {
	c := &t.carriers
	known := c.find(carrier)
	switch {
	case known != nil:
		*known = carried
	case carrier == jvmthread.NoThread:
	case len(c.carried) >= t.maxThreads:
		t.counters.Refused++
	default:
		if c.carried == nil {
			c.carried = make(map[jvmthread.ThreadID]*jvmthread.ThreadID)
		}
		first := carried // else each call would allocate
		c.carried[carrier] = &first
	}
}

// leave notes that a virtual thread is no longer on its carrier, which may have another one since the same nanosecond.
func (t *Timeline) leave(carrier, virtual jvmthread.ThreadID) {
	if known := t.carriers.find(carrier); known == nil || *known == virtual {
		t.carry(carrier, jvmthread.NoThread)
	}
}
