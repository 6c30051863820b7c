// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"slices"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
)

// counters are a thread's values from ThreadMXBean, with bounds of its times in nanoseconds.
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

// checkCounters compares counts and times with ThreadMXBean, an independent source.
func checkCounters(t spantest.T, r *run) {
	t.Helper()
	var truth struct {
		Threads []counters `json:"threads"`
	}
	r.know(t, &truth)
	require.NotEmpty(t, truth.Threads)
	for _, thread := range truth.Threads {
		checkThreadCounters(t, r.Output, r.service, thread)
	}
}

// checkThreadCounters compares with HotSpot, which uses the words differently:
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
//
// It adds up times in ticks and truncates to milliseconds when read, so a sum is less than one millisecond too small. The two observe waits at
// slightly different moments; the bounds measured by the program hold for both.
func checkThreadCounters(t spantest.T, o *spantest.Output, service string, jvm counters) {
	t.Helper()
	total := func(what string, states ...string) (sum int64) {
		for _, state := range states {
			sum += o.Total(service, jvm.ID, "weft."+what+"."+state)
		}
		return sum
	}
	waits := []string{"waiting", "joining", "sleeping", "parked"}
	notified := notifiedWaitsOf(o, service, jvm.ID)
	assert.Equal(t, jvm.BlockedCount, total("count", "blocked")+notified.count, "%s: blocked, and notified", jvm.Name)
	assert.Equal(t, jvm.WaitedCount, total("count", waits...), "%s: waited", jvm.Name)
	assert.EqualValues(t, jvm.Parks, o.Began(service, jvm.ID, "parked", ""), "%s: parked by the program, which names no lock", jvm.Name)

	blocked := total("time", "blocked") + notified.blocked
	waited := total("time", append(waits, "reentering")...) + notified.within
	checkTime(t, jvm.Name+" blocked", jvm.BlockedMillis, blocked, jvm.BlockedLeast, jvm.BlockedMost)
	checkTime(t, jvm.Name+" waited", jvm.WaitedMillis, waited, jvm.WaitedLeast, jvm.WaitedMost)
}

func checkTime(t spantest.T, what string, jvm, weft, least, most int64) {
	t.Helper()
	const resolution = int64(time.Millisecond)
	assert.LessOrEqual(t, jvm*resolution, most, "%s according to the JVM", what)
	assert.Greater(t, (jvm+1)*resolution, least, "%s according to the JVM", what)
	assert.LessOrEqual(t, weft, most, "%s", what)
	assert.GreaterOrEqual(t, weft, least, "%s", what)
}

// notifiedWaits are the waits of a thread as HotSpot counts them.
type notifiedWaits struct {
	count   int64 // ended by a notify
	blocked int64 // from the notify until the monitor was owned
	within  int64 // blocked after the end of a wait, before its return
}

// notifiedWaitsOf walks the states of a thread; none may be folded.
func notifiedWaitsOf(o *spantest.Output, service string, thread int64) (w notifiedWaits) {
	notified, inWait := false, false
	for _, s := range o.Of(service, func(s *spantest.Span) bool { return s.IsState() && s.Number("thread.id") == thread }) {
		switch s.Text("weft.state") {
		case "waiting", "joining":
			inWait = true
			notified = slices.Contains([]string{"notify", "notify_all", "join"}, s.Text("weft.wait.cause"))
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
				w.blocked += s.Number("weft.interval.time")
			}
		case "blocked":
			if inWait {
				w.within += s.Number("weft.interval.time")
			}
		default:
			notified, inWait = false, false
		}
	}
	return w
}
