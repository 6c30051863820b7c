// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Crowd counts the threads in a queue, and the most that were in it at once.
type Crowd struct{ Now, Peak int32 }

// Enter adds a thread.
func (c *Crowd) Enter() {
	c.Now++
	c.Peak = max(c.Peak, c.Now)
}

// Leave removes a thread. One that entered unseen does not count.
func (c *Crowd) Leave() { c.Now = max(0, c.Now-1) }

// Turn is a thread entering or leaving a queue: twice the time, plus one if it enters. In sorted turns, the threads that leave at a time come
// before those that enter.
type Turn int64

// Enter returns the turn of a thread that enters.
func Enter(at jvmthread.Time) Turn { return Turn(at)<<1 | 1 }

// Leave returns the turn of a thread that leaves.
func Leave(at jvmthread.Time) Turn { return Turn(at) << 1 }

// Time is when the turn takes place.
func (t Turn) Time() jvmthread.Time { return jvmthread.Time(t >> 1) }

// Apply lets a thread enter or leave.
func (c *Crowd) Apply(t Turn) {
	if t&1 != 0 {
		c.Enter()
	} else {
		c.Leave()
	}
}

// Peak sorts turns and returns the most threads that were in the queue at once.
func Peak(turns []Turn) int {
	slices.Sort(turns)
	var c Crowd
	for _, t := range turns {
		c.Apply(t)
	}
	return int(c.Peak)
}
