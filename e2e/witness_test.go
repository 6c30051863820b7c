// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
)

// counters are a thread's values from ThreadMXBean.
type counters struct {
	Name         string `json:"name"`
	ID           int64  `json:"id"`
	Parks        int64  `json:"parks"`
	BlockedCount int64  `json:"blocked_count"`
	WaitedCount  int64  `json:"waited_count"`
}

// TestCountsMatchThreadMXBean compares counts with ThreadMXBean, an independent source. Package corpus also compares times.
func TestCountsMatchThreadMXBean(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		c := startCollector(t, setup{engine: []string{"max_spans_per_window: 0"}})
		var truth struct {
			Threads []counters `json:"threads"`
		}
		runJava(t, j, c.endpoint, "counters", &truth, "Counters", "20")
		o := c.finish(t, "counters")
		require.NotEmpty(t, truth.Threads)
		for _, thread := range truth.Threads {
			t.Run(thread.Name, func(t *testing.T) { checkCounters(t, o, "counters", thread) })
		}
		spantest.CheckStructure(t, o)
		spantest.CheckNothingLost(t, o)
	})
}

// checkCounters compares with HotSpot, which uses the words differently:
//
//	         wait             notify   monitor free     owned
//	HotSpot   ├── waited ───────┼─────────┼───────────────┤     waited is the whole call
//	                            ├── blocked ──────────────┤     a notified thread is blocked as well, since the notifier owns the monitor
//	Weft      ├── waiting ────────────────┼─ reentering ──┤     notify is not visible in the state; the link has its time
//	                            ├─latency─┤
//
// HotSpot counts as
//   - blocked: each contended enter, and each wait or join ended by a notify (the end of a thread notifies its joiners). Not the return of a
//     timed-out or interrupted wait: that is an ordinary enter, and an event if contended.
//   - waited: each call of Object.wait, including join's, of sleep and of park, even if the park returns at once.
func checkCounters(t *testing.T, o *output, service string, jvm counters) {
	t.Helper()
	total := func(what string, states ...string) (sum int64) {
		for _, state := range states {
			sum += o.Total(service, jvm.ID, "weft."+what+"."+state)
		}
		return sum
	}
	waits := []string{"waiting", "joining", "sleeping", "parked"}
	assert.Equal(t, jvm.BlockedCount, total("count", "blocked")+notifiedWaits(o, service, jvm.ID), "blocked, and notified")
	assert.Equal(t, jvm.WaitedCount, total("count", waits...), "waited")
	assert.EqualValues(t, jvm.Parks, o.Began(service, jvm.ID, "parked", ""), "parked by the program, which names no lock")
}

// notifiedWaits counts the waits of a thread that a notify ended, or the end of a joined thread; none may be folded.
func notifiedWaits(o *output, service string, thread int64) (n int64) {
	for _, s := range o.Of(service, func(s *span) bool { return s.IsState() && s.Number("thread.id") == thread }) {
		waited := slices.Contains([]string{"waiting", "joining"}, s.Text("weft.state"))
		if waited && slices.Contains([]string{"notify", "notify_all", "join"}, s.Text("weft.wait.cause")) {
			n++
		}
	}
	return n
}
