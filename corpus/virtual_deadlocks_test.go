// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"maps"
	"slices"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/corpus/spantest"
)

// checkVirtualDeadlocks checks that each deadlock over platform and virtual threads, monitors and locks is found, and no other. The JVM's own
// search sees those without a virtual thread only.
func checkVirtualDeadlocks(t spantest.T, r *run) {
	t.Helper()
	var truth struct {
		Cycles []struct {
			Name    string
			Threads []int64
		}
	}
	r.know(t, &truth)
	assert.Len(t, truth.Cycles, 16)
	found := map[string][]int64{}
	for _, s := range r.Of(r.service, func(s *spantest.Span) bool { return s.Text("weft.state") == "deadlocked" }) {
		id := s.Text("weft.deadlock.id")
		found[id] = append(found[id], s.Number("thread.id"))
	}
	var want, got [][]int64
	for _, cycle := range truth.Cycles {
		want = append(want, slices.Sorted(slices.Values(cycle.Threads)))
		for _, thread := range cycle.Threads {
			lane := r.lane(thread)
			assert.Equal(t, "deadlocked", lane[len(lane)-1].Text("weft.state"), "%s: %d", cycle.Name, thread)
		}
	}
	for _, threads := range found {
		got = append(got, slices.Sorted(slices.Values(threads)))
	}
	assert.ElementsMatch(t, want, got)
	ids := deadlocksOf(r)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(found)), ids, "each is reported once")
}

// deadlocksOf returns the ids of the deadlocks that were found in the windows.
func deadlocksOf(r *run) (ids []string) {
	for _, root := range r.Roots(r.service) {
		for _, event := range root.Events().All() {
			if event.Name() == "weft.deadlock" {
				ids = append(ids, spantest.Text(event.Attributes(), "weft.deadlock.id"))
			}
		}
	}
	return ids
}
