// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counters is what ThreadMXBean says of a thread, and within which bounds its times must be, in nanoseconds.
type counters struct {
	Name          string `json:"name"`
	ID            int64  `json:"id"`
	Parks         int64  `json:"parks"`
	BlockedCount  int64  `json:"blocked_count"`
	BlockedMillis int64  `json:"blocked_millis"`
	WaitedCount   int64  `json:"waited_count"`
	WaitedMillis  int64  `json:"waited_millis"`
	BlockedLeast  int64  `json:"blocked_least"`
	BlockedMost   int64  `json:"blocked_most"`
	WaitedLeast   int64  `json:"waited_least"`
	WaitedMost    int64  `json:"waited_most"`
}

// TestTheJVMCountsTheSame asks a second witness, who knows nothing of us.
func TestTheJVMCountsTheSame(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		c := startCollector(t, setup{more: []string{"yaml:processors::thread_span::max_spans_per_window: 0"}})
		var truth struct {
			Threads []counters `json:"threads"`
		}
		runJava(t, j, c.endpoint, "counters", &truth, "Counters", "20")
		o := c.finish(t, "counters")
		require.NotEmpty(t, truth.Threads)
		for _, thread := range truth.Threads {
			t.Run(thread.Name, func(t *testing.T) { checkCounters(t, o, "counters", thread) })
		}
		checkStructure(t, o)
		checkNothingLost(t, o)
	})
}

// checkCounters compares with HotSpot, whose words are not ours:
//
//	         wait             notify   monitor free     owned
//	HotSpot   ├── waited ───────┼─────────┼───────────────┤     waited is the whole call
//	                            ├── blocked ──────────────┤     and a notified thread is blocked, too, as the notifier has the monitor
//	Weft      ├── waiting ────────────────┼─ reentering ──┤     until then it cannot know; the link knows when notify was called
//	                            ├─latency─┤
//
// HotSpot counts as
//   - blocked: each contended enter, and each wait or join that a notify ended (the end of a thread notifies those that join it). Not the
//     return of a wait whose time was over or that was interrupted: that is an enter like any other, and is an event if contended.
//   - waited: each call of Object.wait, join's among them, and of sleep and park, even of a park that finds its permit and returns.
//
// It adds up times in ticks and cuts them to milliseconds when they are read, so a sum is less than one millisecond too small. Neither
// sees a wait at the same moment as the other. The bounds that the program measured around each of them hold for both.
func checkCounters(t *testing.T, o *output, service string, jvm counters) {
	t.Helper()
	total := func(what string, states ...string) (sum int64) {
		for _, state := range states {
			sum += o.total(service, jvm.ID, "weft."+what+"."+state)
		}
		return sum
	}
	waits := []string{"waiting", "joining", "sleeping", "parked"}
	notified := waitsOf(o, service, jvm.ID)
	assert.Equal(t, jvm.BlockedCount, total("count", "blocked")+notified.count, "blocked, and notified")
	assert.Equal(t, jvm.WaitedCount, total("count", waits...), "waited")
	assert.EqualValues(t, jvm.Parks, o.began(service, jvm.ID, "parked", ""), "parked by the program, which names no lock")

	blocked := total("time", "blocked") + notified.blocked
	waited := total("time", append(waits, "reentering")...) + notified.within
	checkTime(t, "blocked", jvm.BlockedMillis, blocked, jvm.BlockedLeast, jvm.BlockedMost)
	checkTime(t, "waited", jvm.WaitedMillis, waited, jvm.WaitedLeast, jvm.WaitedMost)
}

func checkTime(t *testing.T, what string, jvm, weft, least, most int64) {
	t.Helper()
	const resolution = int64(time.Millisecond)
	assert.LessOrEqual(t, jvm*resolution, most, "%s, says the JVM", what)
	assert.Greater(t, (jvm+1)*resolution, least, "%s, says the JVM", what)
	assert.LessOrEqual(t, weft, most, "%s", what)
	assert.GreaterOrEqual(t, weft, least, "%s", what)
	t.Logf("%s: JVM %d ms, Weft %v, between %v and %v", what, jvm,
		time.Duration(weft), time.Duration(least), time.Duration(most))
}

// notifiedWaits are the waits of a thread as HotSpot sees them.
type notifiedWaits struct {
	count   int64 // that a notify ended
	blocked int64 // from the notify until the monitor was owned
	within  int64 // blocked after the end of a wait, before its return
}

// waitsOf goes through the states of a thread, of which none is folded.
func waitsOf(o *output, service string, thread int64) (w notifiedWaits) {
	notified, inWait := false, false
	for _, s := range o.of(service, func(s *span) bool { return s.isState() && s.number("thread.id") == thread }) {
		switch s.text("weft.state") {
		case "waiting", "joining":
			inWait = true
			notified = slices.Contains([]string{"notify", "notify_all", "join"}, s.text("weft.wait.cause"))
			if notified {
				w.count++
			}
			for _, l := range s.Links().All() {
				if latency, ok := l.Attributes().Get("weft.link.latency"); ok && notified {
					w.blocked += latency.Int()
				}
			}
		case "reentering":
			if notified {
				w.blocked += s.number("weft.interval.time")
			}
		case "blocked":
			if inWait {
				w.within += s.number("weft.interval.time")
			}
		default:
			notified, inWait = false, false
		}
	}
	return w
}
