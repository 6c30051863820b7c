// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// held is who held the locks of VirtualOwners, in order.
type held struct {
	Locks []struct {
		Hash  uint32
		Holds [][3]int64 // thread, from, until
	}
}

// mayOwn returns how long after a time a thread owned a lock first, at the earliest; false if it did not before the end. The owner between
// two holds is one of both.
func (h *held) mayOwn(hash uint32, thread, at, end int64) (after int64, ok bool) {
	for i := range h.Locks {
		if h.Locks[i].Hash != hash {
			continue
		}
		holds := h.Locks[i].Holds
		for n, hold := range holds {
			from, until := int64(0), end
			if n > 0 {
				from = holds[n-1][2]
			}
			if n+1 < len(holds) {
				until = holds[n+1][1]
			}
			if hold[0] == thread && from <= end && at <= until {
				return max(0, from-at), true
			}
		}
	}
	return 0, false
}

// TestOwnersAmongVirtualThreads has 1,000 virtual threads contend for four locks, which they hold with and without a carrier.
func TestOwnersAmongVirtualThreads(t *testing.T) {
	const clocks = int64(20 * time.Microsecond) // by which those of the program and of the agent differ at most
	j := newestWithBlocking(t)
	for _, flags := range []string{"-XX:+UseG1GC", layoutOf27} {
		t.Run(flags, func(t *testing.T) {
			var truth held
			got := recordOwners(t, j, flags, &truth, "VirtualOwners", "free", "1000", "5", "4", "100")
			found, wrong, late, free := 0, 0, int64(0), 0
			for _, ev := range got {
				if ev.Peer == jvmthread.NoThread {
					if ev.Flags&jvmthread.FlagOwnerUnknown == 0 {
						free++
					}
					continue
				}
				after, ok := truth.mayOwn(ev.Lock.Hash, int64(ev.Peer), int64(ev.Time)-clocks, int64(ev.Time)+int64(time.Second))
				if !ok {
					wrong++
					continue
				}
				found++
				late = max(late, after)
			}
			t.Logf("%d contentions: %d right, %d wrong, %d free, %d unknown; latest %v", len(got), found, wrong, free, len(got)-found-wrong-free, time.Duration(late))
			assert.Zero(t, wrong)
			assert.GreaterOrEqual(t, found+free, len(got)-1, "a collection may hide one")
		})
	}
}
