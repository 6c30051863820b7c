// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"slices"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/corpus/spantest"
)

// checkParkedBefore checks virtual threads that parked while nothing was recorded. From then on, a snapshot shows that they are parked, and for
// whose lock, until they continue.
func checkParkedBefore(t spantest.T, r *run) {
	t.Helper()
	var truth struct {
		Owner               int64
		Acquirers, Sleepers []int64
		From, Released      int64
	}
	r.know(t, &truth)
	watch := spantest.NewClocks(truth.From)
	for _, id := range slices.Concat(truth.Acquirers, truth.Sleepers) {
		lane := r.lane(id)
		at := slices.IndexFunc(lane, func(s *spantest.Span) bool { return s.Begin() <= truth.From && truth.From < s.End() })
		if !assert.GreaterOrEqual(t, at, 0, "thread %d", id) {
			continue
		}
		s := lane[at]
		assert.Equal(t, "parked", s.Text("weft.state"), "thread %d", id)
		watch.NotBefore("parked until then", truth.Released, s.End())
		assert.Less(t, at, len(lane)-1, "thread %d continues", id)
		if slices.Contains(truth.Sleepers, id) {
			assert.Equal(t, "VirtualParked.sleep", s.Text("code.function.name"), "thread %d", id)
			continue
		}
		assert.Equal(t, "VirtualParked.acquire", s.Text("code.function.name"), "thread %d", id)
		assert.Equal(t, "main", s.Text("weft.lock.holder.thread.name"), "thread %d", id)
		if assert.Equal(t, []string{"handoff"}, s.LinkKinds(), "thread %d", id) {
			l := s.Links().At(0)
			to := r.ByID[spantest.ID{Trace: l.TraceID(), Span: l.SpanID()}]
			if assert.NotNil(t, to, "thread %d", id) {
				assert.Contains(t, append(truth.Acquirers, truth.Owner), to.Number("thread.id"), "thread %d", id)
			}
		}
	}
	watch.Check(t)
}

// waitsOf are the states in which the threads of Switched spend nearly all their time, but for block, which may find its lock free.
var waitsOf = map[string]string{
	"wait": "waiting", "notify": "waiting", "park": "parked", "sleep": "sleeping", "hold": "sleeping", "block": "blocked",
}

// checkSwitched checks threads that do nothing but wait. Those whose kind of wait is not seen are in an unknown state all the time. The others are
// so only where they do not wait: a thread may be in a wait that is not seen.
func checkSwitched(unknown ...string) func(t spantest.T, r *run) {
	return func(t spantest.T, r *run) {
		t.Helper()
		var truth struct {
			From, To int64
			Threads  map[string]int64
		}
		r.know(t, &truth)
		assert.Len(t, truth.Threads, len(waitsOf))
		for name, id := range truth.Threads {
			spent := map[string]int64{}
			for _, s := range r.lane(id) {
				if length := min(s.End(), truth.To) - max(s.Begin(), truth.From); length > 0 {
					spent[s.Text("weft.state")] += length
				}
			}
			if slices.Contains(unknown, name) {
				if name == "hold" && !slices.Contains(unknown, "block") {
					spent["unknown"] += spent["blocked"] // it may find the lock taken, too
					delete(spent, "blocked")
				}
				assert.Equal(t, map[string]int64{"unknown": truth.To - truth.From}, spent, name)
				continue
			}
			assert.Zero(t, spent["runnable"], "%s: %v", name, spent)
			assert.Positive(t, spent[waitsOf[name]], "%s: %v", name, spent)
			if name != "block" {
				assert.Greater(t, spent[waitsOf[name]], (truth.To-truth.From)/2, "%s: %v", name, spent)
			}
		}
	}
}
