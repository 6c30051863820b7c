// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// layouts are the flags with which the newest JDK lays out monitors as it does by default, and as JDK 27 does.
var layouts = []string{"", "-XX:+UnlockDiagnosticVMOptions -XX:+UseObjectMonitorTable -XX:+UseCompactObjectHeaders"}

func layoutName(flags string) string {
	if flags == "" {
		return "default"
	}
	return "as-27"
}

// newestWithBlocking returns the newest JDK if its virtual threads give up their carriers when they are blocked.
func newestWithBlocking(t *testing.T) jdk {
	t.Helper()
	j := jdks[len(jdks)-1]
	if j.major < 24 {
		t.Skip("NOT TESTED: install a JDK 24 or newer")
	}
	return j
}

// recordVirtual runs VirtualOwners with a recording and returns its contentions.
func recordVirtual(t *testing.T, j jdk, flags string, truth any, program ...string) []jvmthread.Event {
	t.Helper()
	command := append(append(strings.Fields(flags), "VirtualOwners"), program...)
	file := filepath.Join(t.TempDir(), "owners.weft")
	runJava(t, j, "file://"+file, "owners,virtual=on", truth, command...)
	return contentions(t, file, "VirtualOwners$Lock")
}

// TestOwnersThatVirtualThreadsWaitFor has 1,000 virtual threads wait for a lock that was never contended for, whose owner they know.
func TestOwnersThatVirtualThreadsWaitFor(t *testing.T) {
	j := newestWithBlocking(t)
	for _, flags := range layouts {
		for _, owner := range []string{"platform", "mounted", "unmounted"} {
			t.Run(layoutName(flags)+"/"+owner, func(t *testing.T) {
				var truth owners
				got := recordVirtual(t, j, flags, &truth, "held", owner, "1000", "5")
				require.Len(t, got, len(truth.Owners)*truth.Each)
				found, wrong := 0, 0
				for i, ev := range got {
					switch ev.Peer {
					case truth.Owners[i/truth.Each]:
						found++
					case jvmthread.NoThread:
					default:
						wrong++
					}
				}
				t.Logf("%d of %d owners, %d wrong", found, len(got), wrong)
				assert.Zero(t, wrong)
				assert.GreaterOrEqual(t, found, len(got)*99/100, "a collection may hide one")
			})
		}
	}
}

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
	for _, flags := range layouts {
		t.Run(layoutName(flags), func(t *testing.T) {
			var truth held
			got := recordVirtual(t, j, flags, &truth, "free", "1000", "5", "4", "100")
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
