// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// TestDeadlocksOfVirtualThreads checks that each deadlock over platform and virtual threads, monitors and locks is found, and no other. The
// JVM's own search sees those without a virtual thread only.
func TestDeadlocksOfVirtualThreads(t *testing.T) {
	for _, j := range jres(t) {
		for _, virtual := range []string{"on", "exact"} {
			t.Run(fmt.Sprintf("%v/%s", j, virtual), func(t *testing.T) {
				var truth struct {
					Cycles []struct {
						Name    string
						Threads []jvmthread.ThreadID
					}
					Seen []jvmthread.ThreadID // by the JVM
				}
				// Before 24 a blocked virtual thread keeps its carrier.
				h := recordHistory(t, j, virtual, &truth, "-Djdk.virtualThreadScheduler.parallelism=64", "VirtualDeadlocks")
				seen := 0
				for _, cycle := range truth.Cycles {
					found := slices.ContainsFunc(h.deadlocks, func(d deadlock.Found) bool {
						var members []jvmthread.ThreadID
						for _, m := range d.Members {
							members = append(members, m.Thread)
						}
						slices.Sort(members)
						return slices.Equal(members, slices.Sorted(slices.Values(cycle.Threads)))
					})
					assert.True(t, found, "%s: %v", cycle.Name, cycle.Threads)
					if slices.ContainsFunc(truth.Seen, func(id jvmthread.ThreadID) bool { return slices.Contains(cycle.Threads, id) }) {
						seen++
					}
					for _, thread := range cycle.Threads {
						last := h.intervals[thread][len(h.intervals[thread])-1]
						assert.Equal(t, jvmthread.StateDeadlocked, last.State, "%s: %d", cycle.Name, thread)
					}
				}
				assert.Len(t, h.deadlocks, len(truth.Cycles))
				t.Logf("%d deadlocks, %d found; the JVM sees %d", len(truth.Cycles), len(h.deadlocks), seen)
			})
		}
	}
}
