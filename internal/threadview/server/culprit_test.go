// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/viewapi"
)

// commitsInTurn is the history of worker threads that take a monitor twice, one after the other, and sleep while they hold it.
func commitsInTurn(sym *symbols.Table, workers int) []jvmthread.Event {
	lock := jvmthread.LockID{Class: sym.InternClass("java.lang.Object"), Hash: 7}
	commit := sym.InternStack("at com.acme.Index.commit(Index.java:7)\nat java.lang.Thread.run(Thread.java:1)")
	sync := sym.InternStack("at java.lang.Thread.sleep(Native Method)\nat com.acme.Disk.sync(Disk.java:9)\nat com.acme.Index.commit(Index.java:8)")
	var events []jvmthread.Event
	add := func(at, worker int, kind jvmthread.Kind, more jvmthread.Event) {
		more.Time, more.Thread, more.Kind = jvmthread.Time(int64(at)*ms), jvmthread.ThreadID(worker), kind
		events = append(events, more)
	}
	for i := 1; i <= workers; i++ {
		sym.SetThread(jvmthread.Thread{ID: jvmthread.ThreadID(i), Name: fmt.Sprintf("http-nio-8080-exec-%d", i), Group: "main"})
		add(1, i, jvmthread.KindThreadStart, jvmthread.Event{})
	}
	for i := 1; i <= workers; i++ {
		add(10, i, jvmthread.KindContendedEnter, jvmthread.Event{Lock: lock, Stack: commit, Peer: 99})
	}
	for turn := range 2 * workers {
		at, i := 20+10*turn, turn%workers+1
		add(at, i, jvmthread.KindContendedEntered, jvmthread.Event{Lock: lock})
		add(at+1, i, jvmthread.KindSleepStart, jvmthread.Event{Stack: sync})
		add(at+9, i, jvmthread.KindSleepEnd, jvmthread.Event{})
		if turn < workers {
			add(at+10, i, jvmthread.KindContendedEnter, jvmthread.Event{Lock: lock, Stack: commit, Peer: jvmthread.ThreadID(i%workers + 1)})
		}
	}
	return events
}

// If none of the threads that need a lock is the cause, the answer is that they held it in turn, and what they did meanwhile.
func TestAnswerIsThatThreadsHeldItInTurn(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	f := fixtureOf(t, sym, commitsInTurn(sym, 8), time.Second)
	most := ask[viewapi.Answer](f, "/answer?from=20000000&to=160000000").Most
	require.NotNil(t, most)
	assert.False(t, most.Culprit)
	require.NotNil(t, most.Turns)
	assert.Equal(t, "asleep in Disk.sync", most.Turns.Text)
	assert.Equal(t, 664.0/824, most.Turns.Share, "milliseconds that others waited: 8 ms of each turn, for 7 of them to 2")
	assert.True(t, most.Turns.Own)
	assert.Equal(t, 8, most.Waiters)
	assert.Equal(t, "http-nio-8080-exec-*", most.Who[0].Name, "the port is the same")
}

// The cause is not among those that waited, even if it had to wait for its turn.
func TestCulpritIsNoWaiter(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	f := fixtureOf(t, sym, commitsInTurn(sym, 2), time.Second)
	most := ask[viewapi.Answer](f, "/answer?from=19000000").Most // without thread 99, which both waited for
	require.NotNil(t, most)
	assert.True(t, most.Culprit)
	assert.Nil(t, most.Turns)
	require.NotEmpty(t, most.Holders)
	assert.Equal(t, "http-nio-8080-exec-1", most.Holders[0].Thread.Name)
	assert.Equal(t, 20.0/30, most.Holders[0].Share)
	assert.Equal(t, 1, most.Waiters)
	assert.Equal(t, "http-nio-8080-exec-2", most.Who[0].Name)
}

// Who held a lock for a small part of the waits is not the answer.
func TestHolderIsMostlyUnknown(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	lock := jvmthread.LockID{Class: sym.InternClass("java.lang.Object"), Hash: 7}
	var events []jvmthread.Event
	add := func(at int64, thread jvmthread.ThreadID, kind jvmthread.Kind) {
		events = append(events, jvmthread.Event{Time: jvmthread.Time(at * ms), Thread: thread, Kind: kind, Lock: lock})
	}
	for i := range jvmthread.ThreadID(3) {
		sym.SetThread(jvmthread.Thread{ID: i + 1, Name: fmt.Sprintf("clerk-%d", i+1), Group: "main"})
		add(1, i+1, jvmthread.KindThreadStart)
		add(10, i+1, jvmthread.KindContendedEnter)
	}
	for i, at := range []int64{100, 103, 106} {
		add(at, jvmthread.ThreadID(i+1), jvmthread.KindContendedEntered)
	}
	most := ask[viewapi.Answer](fixtureOf(t, sym, events, time.Second), "/answer").Most
	require.NotNil(t, most)
	assert.False(t, most.Culprit)
	assert.Nil(t, most.Turns)
	assert.Equal(t, 270.0/279, most.Unknown)
}

// Next to what cost the most, a lock is mentioned if it cost at least a tenth of that.
func TestSecondCost(t *testing.T) {
	for blocked, want := range map[int64]bool{49: false, 50: true} {
		sym := symbols.New(symbols.DefaultLimits())
		lock := jvmthread.LockID{Class: sym.InternClass("com.acme.Stock"), Hash: 7}
		var events []jvmthread.Event
		add := func(at int64, thread jvmthread.ThreadID, kind jvmthread.Kind, lock jvmthread.LockID) {
			events = append(events, jvmthread.Event{Time: jvmthread.Time(at * ms), Thread: thread, Kind: kind, Lock: lock})
		}
		for i := range jvmthread.ThreadID(2) {
			sym.SetThread(jvmthread.Thread{ID: i + 1, Name: fmt.Sprintf("clerk-%d", i+1), Group: "main"})
			add(1, i+1, jvmthread.KindThreadStart, jvmthread.LockID{})
		}
		add(10, 1, jvmthread.KindJoinStart, jvmthread.LockID{})
		add(10, 2, jvmthread.KindContendedEnter, lock)
		add(10+blocked, 2, jvmthread.KindContendedEntered, lock)
		add(510, 1, jvmthread.KindJoinEnd, jvmthread.LockID{})
		got := ask[viewapi.Answer](fixtureOf(t, sym, events, time.Second), "/answer")
		require.NotNil(t, got.Most)
		assert.Equal(t, 500*ms, got.Most.Time)
		assert.Equal(t, want, got.Second != nil, "%d ms", blocked)
	}
}

// Holders that are not listed, because each caused little, are known nevertheless: one held the lock for 300 ms, 100 others for 7 ms each.
func TestSmallHoldersAreKnown(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	lock := jvmthread.LockID{Class: sym.InternClass("java.lang.Object"), Hash: 7}
	var events []jvmthread.Event
	add := func(at int64, thread jvmthread.ThreadID, kind jvmthread.Kind) {
		events = append(events, jvmthread.Event{Time: jvmthread.Time(at * ms), Thread: thread, Kind: kind, Lock: lock})
	}
	const threads = 102
	for i := range jvmthread.ThreadID(threads) {
		sym.SetThread(jvmthread.Thread{ID: i + 1, Name: fmt.Sprintf("http-nio-8080-exec-%d", i+1), Group: "main"})
		add(1, i+1, jvmthread.KindThreadStart)
	}
	add(9, 1, jvmthread.KindContendedEnter)
	add(10, 1, jvmthread.KindContendedEntered)
	add(10, threads, jvmthread.KindContendedEnter)
	for i := range int64(100) {
		add(309+7*i, jvmthread.ThreadID(i+2), jvmthread.KindContendedEnter)
		add(310+7*i, jvmthread.ThreadID(i+2), jvmthread.KindContendedEntered)
	}
	add(1010, threads, jvmthread.KindContendedEntered)
	most := ask[viewapi.Answer](fixtureOf(t, sym, events, 2*time.Second), "/answer").Most
	require.NotNil(t, most)
	assert.False(t, most.Culprit)
	assert.Len(t, most.Holders, 1)
	assert.Zero(t, most.Unknown)
}

// A share is of the time that threads waited: while one held the lock for 10 ms, three waited, and one while another held it for 20 ms.
func TestSharesAreOfWaitingTime(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	lock := jvmthread.LockID{Class: sym.InternClass("java.lang.Object"), Hash: 7}
	var events []jvmthread.Event
	add := func(at int64, thread, peer jvmthread.ThreadID, kind jvmthread.Kind) {
		events = append(events, jvmthread.Event{Time: jvmthread.Time(at * ms), Thread: thread, Kind: kind, Lock: lock, Peer: peer})
	}
	for i, name := range []string{"report", "audit", "request-1", "request-2", "request-3"} {
		sym.SetThread(jvmthread.Thread{ID: jvmthread.ThreadID(i + 1), Name: name, Group: "main"})
		add(1, jvmthread.ThreadID(i+1), 0, jvmthread.KindThreadStart)
	}
	for i := range jvmthread.ThreadID(3) {
		add(10, 3+i, 1, jvmthread.KindContendedEnter)
	}
	for i, at := range []int64{20, 21, 22} {
		add(at, 3+jvmthread.ThreadID(i), 0, jvmthread.KindContendedEntered)
	}
	add(40, 3, 2, jvmthread.KindContendedEnter)
	add(60, 3, 0, jvmthread.KindContendedEntered)
	most := ask[viewapi.Answer](fixtureOf(t, sym, events, time.Second), "/answer").Most
	require.NotNil(t, most)
	assert.Equal(t, 53*ms, most.Time, "10, 11, 12 and 20 ms")
	require.NotEmpty(t, most.Holders)
	first := most.Holders[0]
	assert.Equal(t, "report", first.Thread.Name)
	assert.Equal(t, 10*ms, first.Time)
	assert.Equal(t, 30*ms, first.Waited)
	assert.Equal(t, 30.0/53, first.Share)
	assert.True(t, most.Culprit)
}
