// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// holdCase is a thread that holds a monitor after Object.wait, and one that waits for it.
type holdCase struct {
	Virtual, VirtualOther, Timeout bool
	Holder, Other                  jvmthread.ThreadID
	Turns                          [][3]jvmthread.Time // owned again, released, got by the other
}

// TestHoldsAfterWait compares what virtual threads do after Object.wait with what the program knows: they run and hold the monitor, and who
// waited for it got it when they released it.
func TestHoldsAfterWait(t *testing.T) {
	const slack = jvmthread.Time(time.Millisecond) // within which the program notes what it did, unless it is preempted
	for _, j := range jres(t) {
		t.Run(j.String(), func(t *testing.T) {
			var truth struct{ Cases []holdCase }
			h := recordHistory(t, j, "on", &truth, "-Djdk.virtualThreadScheduler.parallelism=4", "VirtualHolds", "20")
			for _, c := range truth.Cases {
				name := fmt.Sprintf("holder virtual: %v, other: %v, timeout: %v", c.Virtual, c.VirtualOther, c.Timeout)
				ran, linked, wrong, late := 0, 0, 0, time.Duration(0)
				for _, turn := range c.Turns {
					middle := turn[0] + (turn[1]-turn[0])/2
					if iv := h.at(c.Holder, middle); iv.State == jvmthread.StateRunnable && iv.Start <= turn[0]+slack {
						ran++
					}
					blocked := h.at(c.Other, turn[1])
					if blocked.State != jvmthread.StateBlocked {
						continue // it was blocked unseen: the monitor was released at that instant
					}
					for _, ia := range h.causesOf(&blocked) {
						if ia.Kind != jvmthread.InteractionHandoff {
							continue
						}
						if ia.From.Thread != c.Holder || blocked.Peer != c.Holder {
							wrong++
							continue
						}
						linked++
						late = max(late, ia.EffectTime.Sub(ia.CauseTime))
					}
				}
				t.Logf("%s: %d turns, %d ran, %d handed over, %d wrong, got it at most %v after the release", name, len(c.Turns), ran, linked, wrong, late)
				assert.Equal(t, len(c.Turns), ran, name)
				assert.Equal(t, len(c.Turns), linked, name)
				assert.Zero(t, wrong, name)
				assert.Less(t, late, 10*time.Millisecond, "%s: that is how long it was held", name)
			}
		})
	}
}

// at returns the interval of a thread at a time.
func (h *history) at(thread jvmthread.ThreadID, at jvmthread.Time) (found jvmthread.Interval) {
	for _, iv := range h.intervals[thread] {
		if iv.Start <= at && at < iv.End {
			return iv
		}
	}
	return found
}
