// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
)

// entry is a program, how it is recorded and analyzed, and what must be true of the answer.
type entry struct {
	name    string   // of its files
	program []string // class and arguments, in which WEFT is the command; a driver may replace HOST and PORT by an address
	jars    string   // folder of e2e with the program and the POM of its jars; empty: e2e/jvm
	java    []string // options of the JVM
	from    source
	agent   string         // further options of the agent
	least   int            // JDK that the program needs; 0: any; virtualThreads
	engine  map[string]any // options of thread_engine
	also    []string       // a program that runs without the recorder, for comparison: the truth is then {"truth": its, "also": that of this one}
	drive   driver         // how the program is run; nil: alone
	check   func(t spantest.T, r *run)
}

// virtualThreads is the first JDK that has them. Its virtual threads keep their carriers more often than later ones: programs run on both.
const virtualThreads = 21

// source is what records a run.
type source string

const (
	agent  source = "agent"
	flight source = "jfr" // the flight recorder of the JDK
)

// suffix is that of a recording.
func (s source) suffix() string {
	if s == flight {
		return ".jfr.gz"
	}
	return ".weft.gz"
}

// service is the name of a program in its spans, whoever has recorded it.
func (e *entry) service() string { return e.program[0] }

// run is a recorded run.
type run struct {
	*spantest.Output

	entry   *entry
	jdk     int
	service string
	truth   []byte // that the program printed
	played  *played

	recording string // file
}

// know decodes what the program knows.
func (r *run) know(t spantest.T, truth any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(r.truth, truth), "%s", r.truth)
}

// checked adapts a check of one kind of truth.
func checked[T any](check func(spantest.T, *spantest.Output, string, T)) func(spantest.T, *run) {
	return func(t spantest.T, r *run) {
		t.Helper()
		var truth T
		r.know(t, &truth)
		check(t, r.Output, r.service, truth)
	}
}

// wholeRun keeps all spans of a run in one window, so that no wait is cut.
func wholeRun(options map[string]any) map[string]any {
	all := map[string]any{"window": "1h", "max_spans_per_window": 0}
	maps.Copy(all, options)
	return all
}

// pathOfMain selects the critical path of the main thread, which waits for all others.
var pathOfMain = map[string]any{"critical_path": map[string]any{"thread": "^main$"}}

// seconds are windows of a second: runs consist of several.
var seconds = map[string]any{"window": "1s"}

// noLock is the program without the lock that it waits for.
var noLock = []string{"Convoy", "none"}

var entries = slices.Concat(programs, lockEntries, virtualEntries, servers)

var programs = []entry{
	{name: "waits", program: []string{"Matrix"}, from: agent, engine: wholeRun(pathOfMain), check: checkWaits},
	{name: "waits-jfr", program: []string{"Matrix"}, from: flight, engine: wholeRun(pathOfMain), check: checkWaits},

	{name: "pools", program: []string{"MatrixPools"}, jars: "pools", from: agent, engine: wholeRun(pathOfMain), check: checkWaits},
	{name: "pools-jfr", program: []string{"MatrixPools"}, jars: "pools", from: flight, engine: wholeRun(pathOfMain), check: checkWaits},

	{name: "convoy-monitor", program: []string{"Convoy", "monitor"}, from: agent, engine: wholeRun(pathOfMain), also: noLock, check: checkConvoy},
	{name: "convoy-lock", program: []string{"Convoy", "lock"}, from: agent, engine: wholeRun(pathOfMain), also: noLock, check: checkConvoy},
	{name: "convoy-monitor-longest", program: []string{"Convoy", "monitor"}, from: agent, engine: wholeRun(nil), also: noLock, check: checkConvoy},
	{name: "convoy-lock-longest", program: []string{"Convoy", "lock"}, from: agent, engine: wholeRun(nil), also: noLock, check: checkConvoy},

	{name: "pingpong", program: []string{"PingPong", "200"}, from: agent, engine: seconds, check: checkPingPong},
	{name: "notifies", program: []string{"Notifies", "100"}, from: agent, engine: seconds, check: checkNotifies},
	{name: "startsjoins", program: []string{"StartsJoins", "20"}, from: agent, engine: seconds, check: checked(spantest.CheckStartsJoins)},
	{name: "sleeps", program: []string{"Sleeps", "50"}, from: agent, engine: seconds, check: checked(spantest.CheckSleeps)},
	{name: "timedwaits", program: []string{"TimedWaits", "40"}, from: agent, engine: seconds, check: checked(spantest.CheckTimedWaits)},
	{name: "interrupts", program: []string{"Interrupts", "20"}, from: agent, engine: seconds, check: checked(spantest.CheckInterrupts)},

	{name: "cause-future", program: []string{"Causes", "future"}, from: agent, engine: seconds, check: checkCause(
		`6 requests waited \S+ m?s for a future in Causes\.\S+; 2 mailers completed it, asleep in Causes\.mail; for at least \d\d % of that time the tasks were queued\.$`, 0)},
	{name: "cause-barrier", program: []string{"Causes", "barrier"}, from: agent, engine: seconds, check: checkCause(
		`2 requests waited \S+ m?s at a barrier in Causes\.\S+; worker-1 came last, asleep in Causes\.late\.$`, 0)},
	{name: "cause-queue", program: []string{"Causes", "queue"}, from: agent, engine: seconds, check: checkCause(
		`2 requests waited \S+ m?s to put into Causes\.JOBS in Causes\.put; 2 waits of \S+ m?s did not end`, 2)},
	{name: "cause-latch", program: []string{"Causes", "latch"}, from: agent, engine: seconds, check: checkCause(
		`2 requests waited \S+ m?s at latch Causes\.READY in Causes\.ready; 2 waits of \S+ m?s did not end\.$`, 2)},
	{name: "cause-starved", program: []string{"Causes", "starved"}, from: agent, engine: seconds, check: checkCause(
		`\d \w+ waited \S+ m?s for a future in Causes\.\S+; both orders wait for others, too: no task in their queue can run\.$`, 2)},
	{name: "cause-owner", program: []string{"Causes", "owner"}, from: agent, engine: seconds, check: checkStuck(
		`3 requests waited \S+ m?s for Causes\.LOCK in Causes\.lock; 3 waits of \S+ m?s did not end, and importer, which held it, has ended\.$`, 3, true)},
	{name: "cause-cycle", program: []string{"Causes", "cycle"}, from: agent, engine: seconds, check: checkStuck(
		`checkout waited \S+ m?s for future FutureTask in Causes\.price holding Causes\.LOCK; 2 requests and pricer-1 waited \S+ m?s for it; `+
			`3 waits of \S+ m?s did not end, and checkout, which holds it, waits for pricer-1, which waits for it\.$`, 3, true)},
	{name: "cause-upgrade", program: []string{"Causes", "upgrade"}, from: agent, engine: seconds, check: checkStuck(
		`3 requests and cart waited \S+ m?s for Causes\.READ_WRITE in Causes\.read; 4 waits of \S+ m?s did not end: cart, which holds it, waits for itself\.$`, 4, true)},
	{name: "cause-join", program: []string{"Causes", "join"}, from: agent, engine: seconds, check: checkCause(
		`2 requests waited \S+ m?s for exporter to end in Causes\.joined; it was asleep in Causes\.\S+; 2 waits of \S+ m?s did not end\.$`, 2)},
	{name: "cause-notify", program: []string{"Causes", "notify"}, from: agent, engine: seconds, check: checkStuck(
		`2 requests waited \S+ m?s for a notify of Causes\.MAILBOX in Causes\.listen; 2 waits of \S+ m?s did not end, and dispatcher, which notified it before, `+
			`has ended\.$`, 2, false)},
	{name: "cause-collection", program: []string{"Causes", "collection"}, from: agent, engine: seconds, check: checkCollection(`Causes\.MAILBOX`)},

	{name: "cause-socket", program: []string{"Causes", "socket"}, from: agent, agent: ",io-names=on", engine: seconds, check: checkSocket(`Causes\.MAILBOX`, looks)},

	{name: "pingpong-jfr", program: []string{"PingPong", "200"}, from: flight, engine: seconds, check: checkPingPong},
	{name: "notifies-jfr", program: []string{"Notifies", "50"}, from: flight, engine: seconds, check: checked(checkRecordedNotifies)},
	{name: "collection-jfr", program: []string{"Causes", "collection"}, from: flight, engine: seconds, check: checkCollection(`Object`)},
	{name: "socket-jfr", program: []string{"Causes", "socket"}, from: flight, engine: seconds, check: checkSocket(`Object`, 0)},
	{name: "latch-jfr", program: []string{"Causes", "latch"}, from: flight, engine: seconds, check: checkCause(
		`2 requests waited \S+ m?s at a latch in Causes\.ready; 2 waits of \S+ m?s did not end\.$`, 2)},
	{name: "starved-jfr", program: []string{"Causes", "starved"}, from: flight, engine: seconds, check: checkCause(
		`\d \w+ waited \S+ m?s for a future in Causes\.\S+; both orders wait for others, too: no task in their queue can run\.$`, 2)},
	{name: "startsjoins-jfr", program: []string{"StartsJoins", "20"}, from: flight, engine: seconds, check: checked(spantest.CheckStartsJoins)},
	{name: "sleeps-jfr", program: []string{"Sleeps", "20"}, from: flight, engine: seconds, check: checked(spantest.CheckSleeps)},
	{name: "timedwaits-jfr", program: []string{"TimedWaits", "40"}, from: flight, engine: seconds, check: checked(spantest.CheckTimedWaits)},
}
