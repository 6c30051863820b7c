// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/viewapi"
)

// The threads of a program with a pool of one object, whose helper returns what threads give back.
const (
	poolReport = jvmthread.ThreadID(iota + 1)
	poolRequest
	poolHelper
)

// monitorPool is the history of a pool whose threads wait in Object.wait. From 20 to 90 ms, report has the object while request waits. It got it
// after a wait, or at once.
func monitorPool(sym *symbols.Table, waited bool) []jvmthread.Event {
	const library = "com.mchange.v2.resourcepool.BasicResourcePool."
	pool := jvmthread.LockID{Class: sym.InternClass("com.mchange.v2.resourcepool.BasicResourcePool"), Hash: 7}
	tasks := jvmthread.LockID{Class: sym.InternClass("com.mchange.v2.async.ThreadPoolAsynchronousRunner"), Hash: 8}
	take := func(method string) jvmthread.StackID {
		return sym.InternStack("at java.lang.Object.wait(Native Method)\nat " + library + "awaitAvailable(B.java:1)\nat " + library +
			"checkoutResource(B.java:2)\nat com.acme." + method + "(Shop.java:3)")
	}
	give := sym.InternStack("at java.lang.Object.notifyAll(Native Method)\nat com.mchange.v2.async.ThreadPoolAsynchronousRunner.postRunnable(T.java:1)\nat " +
		library + "doCheckinManaged(B.java:3)\nat " + library + "checkinResource(B.java:4)")
	done := sym.InternStack("at java.lang.Object.notifyAll(Native Method)\nat " + library + "refurbish(B.java:5)")
	work := sym.InternStack("at java.lang.Object.wait(Native Method)\nat com.mchange.v2.async.ThreadPoolAsynchronousRunner$PoolThread.run(T.java:2)")
	sleep := sym.InternStack("at java.lang.Thread.sleep(Native Method)\nat com.acme.Report.run(Report.java:1)")
	var events []jvmthread.Event
	add := func(at int64, thread jvmthread.ThreadID, kind jvmthread.Kind, lock jvmthread.LockID, stack jvmthread.StackID) {
		events = append(events, jvmthread.Event{Time: jvmthread.Time(at * ms), Thread: thread, Kind: kind, Lock: lock, Stack: stack})
	}
	woken := func(at int64, thread jvmthread.ThreadID, lock jvmthread.LockID) {
		add(at, thread, jvmthread.KindWaited, lock, jvmthread.NoStack)
		add(at, thread, jvmthread.KindWaitReturned, lock, jvmthread.NoStack)
	}
	for id, name := range map[jvmthread.ThreadID]string{poolReport: "report", poolRequest: "request", poolHelper: "HelperThread-#0"} {
		sym.SetThread(jvmthread.Thread{ID: id, Name: name, Group: "main"})
	}
	for id := poolReport; id <= poolHelper; id++ {
		add(1, id, jvmthread.KindThreadStart, jvmthread.LockID{}, jvmthread.NoStack)
	}
	if waited {
		add(2, poolReport, jvmthread.KindWait, pool, take("Report.run"))
		add(10, poolHelper, jvmthread.KindNotifyAll, pool, done) // it made the object
		woken(11, poolReport, pool)
	}
	add(12, poolHelper, jvmthread.KindWait, tasks, work)
	add(15, poolReport, jvmthread.KindSleepStart, jvmthread.LockID{}, sleep)
	add(20, poolRequest, jvmthread.KindWait, pool, take("Orders.find"))
	add(90, poolReport, jvmthread.KindSleepEnd, jvmthread.LockID{}, jvmthread.NoStack)
	add(90, poolReport, jvmthread.KindNotifyAll, tasks, give)
	woken(91, poolHelper, tasks)
	add(92, poolHelper, jvmthread.KindNotifyAll, pool, done)
	woken(93, poolRequest, pool)
	add(94, poolHelper, jvmthread.KindWait, tasks, work)
	add(100, poolRequest, jvmthread.KindThreadEnd, jvmthread.LockID{}, jvmthread.NoStack)
	return events
}

// Who took an object holds it until it gives it back; the helper that returns it later, and owns the monitor then, never does.
func TestHelpersOfPoolsHoldNothing(t *testing.T) {
	for _, waited := range []bool{false, true} {
		for _, length := range []time.Duration{time.Second, 30 * time.Millisecond} {
			sym := symbols.New(symbols.DefaultLimits())
			f := fixtureOf(t, sym, monitorPool(sym, waited), length)
			most := ask[viewapi.Answer](f, "/answer?from=15000000").Most
			require.NotNil(t, most)
			assert.Equal(t, []any{"pool", 73 * ms, 1}, []any{most.Kind, most.Time, most.Waiters})
			require.Len(t, most.Holders, 1, "waited %v, %v", waited, length)
			h := most.Holders[0]
			assert.Equal(t, []any{"report", 70 * ms, "asleep in Report.run"}, []any{h.Thread.Name, h.Waited, h.Text})
		}
	}
}

// Without a word of who gave an object back, it is not known who had it.
func TestHolderOfAPoolIsUnknown(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	var events []jvmthread.Event
	for _, ev := range monitorPool(sym, false) {
		if ev.Thread != poolReport || ev.Kind != jvmthread.KindNotifyAll {
			events = append(events, ev)
		}
	}
	f := fixtureOf(t, sym, events, time.Second)
	assert.Empty(t, ask[viewapi.Answer](f, "/answer").Most.Holders)
}
