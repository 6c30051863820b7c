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
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

const ms = int64(time.Millisecond)

// reportAndMatchers serves a program whose threads wait for a ReentrantLock and for a pool.
func reportAndMatchers(t *testing.T, window time.Duration) *fixture {
	t.Helper()
	sym := symbols.New(symbols.DefaultLimits())
	return fixtureOf(t, sym, threadtest.ReportAndMatchers(sym), window)
}

func TestIntervalNamesWhoHeldTheLockLongest(t *testing.T) {
	f := reportAndMatchers(t, 170*time.Millisecond)
	// matcher-3 waits from 130 to 354 ms and 1 µs: report holds the lock until 350, matcher-1 until 352, matcher-2 until 354.
	iv := ask[viewapi.Interval](f, fmt.Sprintf("/interval?thread=5&at=%d", 200*ms))
	assert.Equal(t, "lock", iv.Wait)
	assert.Equal(t, &viewapi.Site{Function: "com.acme.Matcher.match", Line: "Matcher.java:42", Entry: "java.util.concurrent.locks.ReentrantLock.lock", Lock: "OrderBook.lock"}, iv.Site)
	require.Len(t, iv.Holders, 3)
	assert.Equal(t, "report", iv.Holders[0].Thread.Name)
	assert.Equal(t, 220*ms, iv.Holders[0].Time)
	assert.Equal(t, 220.0/224.001, iv.Holders[0].Share)
	assert.Equal(t, "asleep in Report.write", iv.Holders[0].Text)
	assert.Equal(t, []int64{2*ms - 1000, 2*ms - 1000}, []int64{iv.Holders[1].Time, iv.Holders[2].Time})
	assert.Equal(t, "report", iv.Owner.Thread.Name)
	assert.Equal(t, "matcher-3: blocked OrderBook.lock for 224 ms in Matcher.match, through ReentrantLock.lock; report held it 98 % of the time, "+
		"asleep in Report.write; handoff by matcher-2, 1 µs before", iv.Text)
}

// Threads that have connections of a pool at the same time are all holders, while the session is live and after its end.
func TestSeveralHoldersOfAPool(t *testing.T) {
	f := reportAndMatchers(t, 170*time.Millisecond)
	at := (100 + 300*threadtest.ReportRounds + 301) * ms
	several := 0
	for id := range threadtest.PoolClients {
		iv := ask[viewapi.Interval](f, fmt.Sprintf("/interval?thread=%d&at=%d", 8+id, at))
		if iv.Wait != "pool" {
			continue
		}
		assert.Equal(t, "com.acme.Shop.buy", iv.Site.Function)
		assert.Equal(t, "com.zaxxer.hikari.pool.HikariPool.getConnection", iv.Site.Entry)
		if assert.GreaterOrEqual(t, len(iv.Holders), 2) {
			several++
			assert.Equal(t, "asleep in Shop.query", iv.Holders[0].Text)
		}
	}
	assert.Equal(t, threadtest.PoolClients-2, several)
	lanes := ask[viewapi.LockLanes](f, "/locklanes")
	for _, lane := range lanes.Lanes {
		for i := 1; i < len(lane.Holds); i++ {
			assert.GreaterOrEqual(t, lane.Holds[i].From, lane.Holds[i-1].To, "runs of %s do not overlap", lane.Row.Lock.Class)
		}
	}
}

// The path is that of the thread that waited longest for others, never of a thread of the JVM or without a task.
func TestPathIsOfTheThreadThatWaitedLongest(t *testing.T) {
	f := reportAndMatchers(t, time.Second)
	path := ask[viewapi.Path](f, fmt.Sprintf("/path?to=%d", (100+300*threadtest.ReportRounds)*ms))
	assert.Equal(t, "matcher-1", path.Thread.Name)
	assert.Equal(t, "waited longest", path.Chosen)
	require.NotEmpty(t, path.Locks)
	assert.Equal(t, jvmthread.WaitLock.String(), path.Locks[0].State)
	quiet := ask[viewapi.Path](f, fmt.Sprintf("/path?to=%d", 90*ms))
	assert.Equal(t, "main", quiet.Thread.Name)
	assert.Equal(t, "main thread", quiet.Chosen)
	last := ask[viewapi.Path](f, "/path?mode=unbounded")
	assert.NotEqual(t, "Notification Thread", last.Thread.Name)
	assert.Equal(t, "ended last", last.Chosen)
}

// The answer is the cause, not the symptom: who held the lock while others waited, and what it did meanwhile.
func TestAnswerNamesTheCause(t *testing.T) {
	f := reportAndMatchers(t, 170*time.Millisecond)
	most := ask[viewapi.Answer](f, fmt.Sprintf("/answer?to=%d", (100+300*threadtest.ReportRounds)*ms)).Most
	require.NotNil(t, most)
	assert.Equal(t, "OrderBook.lock", most.Name)
	assert.Equal(t, "lock", most.Kind)
	assert.Equal(t, 1, most.Locks)
	assert.Equal(t, threadtest.MatchersWait*ms+15_000, most.Time) // each of 15 handoffs takes 1 µs
	assert.Equal(t, 3, most.Waiters)
	assert.Equal(t, "matcher-*", most.Who[0].Name)
	assert.Equal(t, "com.acme.Matcher.match", most.Site.Function)
	require.NotEmpty(t, most.Holders)
	assert.Equal(t, "report", most.Holders[0].Thread.Name)
	assert.Equal(t, threadtest.ReportHeld*ms, most.Holders[0].Time)
	assert.Equal(t, "asleep in Report.write", most.Holders[0].Text)

	pool := ask[viewapi.Answer](f, fmt.Sprintf("/answer?from=%d", (100+300*threadtest.ReportRounds)*ms)).Most
	require.NotNil(t, pool)
	assert.Equal(t, "HikariPool", pool.Name)
	assert.Equal(t, "pool", pool.Kind)
	assert.Equal(t, "a connection", pool.Unit)
	assert.Equal(t, "client-*", pool.Who[0].Name)
	assert.Equal(t, "asleep in Shop.query", pool.Holders[0].Text)
	assert.Len(t, pool.Holders, 5)
	assert.Equal(t, threadtest.PoolClients-5, pool.More)

	quiet := ask[viewapi.Answer](f, fmt.Sprintf("/answer?to=%d", 90*ms))
	assert.Zero(t, quiet.Time)
	assert.Nil(t, quiet.Most)
}

// A thread that held the lock for a hundredth of the time of the first is not worth a mention.
func TestAnswerOmitsHoldersOfAnInstant(t *testing.T) {
	h, err := threadtest.Parse("0 A threadStart\n0 B threadStart\n0 T threadStart\n10 T park lock=L owner=A\n2000 B park lock=L owner=A\n" +
		"2010 A unpark target=B\n2010 B unparked\n2020 B unpark target=T\n2020 T unparked\n2030 T yield")
	require.NoError(t, err)
	most := ask[viewapi.Answer](fixtureOf(t, symbols.New(symbols.DefaultLimits()), h.Events, time.Second), "/answer").Most
	require.NotNil(t, most)
	require.Len(t, most.Holders, 1)
	assert.EqualValues(t, 2000, most.Holders[0].Time)
	assert.Zero(t, most.More)
}

// A thread that waits for a ReentrantLock has the color of blocked threads; a worker without a task is idle.
func TestLanesShowContendedParksAsBlocked(t *testing.T) {
	f := reportAndMatchers(t, time.Second)
	for thread, want := range map[int]jvmthread.State{5: jvmthread.StateBlocked, 6: store.StateIdle} {
		lane := ask[viewapi.Lanes](f, fmt.Sprintf("/lanes?threads=%d&from=%d&to=%d", thread, 200*ms, 210*ms)).Lanes[0]
		require.Len(t, lane.Code, 1)
		assert.Equal(t, want, jvmthread.State(lane.Code[0]&15))
		assert.Equal(t, want == jvmthread.StateBlocked, lane.Code[0]>>12&viewapi.MarkStopped != 0)
	}
}

// Locks that threads had to wait for come first, with their names and kinds; the queues of idle workers come last.
func TestLocksHaveNamesAndKinds(t *testing.T) {
	f := reportAndMatchers(t, 170*time.Millisecond)
	lanes := ask[viewapi.LockLanes](f, "/locklanes").Lanes
	require.Len(t, lanes, 3)
	assert.Equal(t, []string{"OrderBook.lock", "lock"}, []string{lanes[0].Row.Name, lanes[0].Row.Kind})
	assert.Equal(t, []string{"HikariPool", "pool"}, []string{lanes[1].Row.Name, lanes[1].Row.Kind})
	assert.Empty(t, lanes[2].Row.Kind)
	assert.Zero(t, lanes[2].Row.Blocked.Time)
	assert.Equal(t, 3, ask[viewapi.Locks](f, "/locks").Total)
	contended := ask[viewapi.Locks](f, "/locks?contended=true")
	require.Equal(t, 2, contended.Total)
	assert.Equal(t, []string{"OrderBook.lock", "HikariPool"}, []string{contended.Locks[0].Name, contended.Locks[1].Name})
}

// Lanes of locks: only those that threads wait for, a few of each name, and the one that is selected.
func TestLanesOfLocksOfOneName(t *testing.T) {
	f := newFixture(t, 3, 16, 12, 4000, time.Second)
	all := ask[viewapi.LockLanes](f, "/locklanes?limit=50")
	contended := ask[viewapi.LockLanes](f, "/locklanes?limit=50&contended=true")
	require.Less(t, contended.Total, all.Total)
	times, locks := map[string]int64{}, map[string]int{}
	var last uint32
	for i, lane := range contended.Lanes {
		assert.NotZero(t, lane.Row.Blocked)
		name := lane.Row.Lock.Class + " " + lane.Row.Name
		times[name], locks[name] = times[name]+lane.Row.Blocked.Time, locks[name]+1
		if last = lane.Row.Lock.ID; i > 0 {
			assert.GreaterOrEqual(t, contended.Lanes[i-1].Row.Blocked.Time, lane.Row.Blocked.Time)
		}
	}
	few := ask[viewapi.LockLanes](f, fmt.Sprintf("/locklanes?limit=50&contended=true&per_name=1&keep=%d", last))
	require.Less(t, few.Total, contended.Total)
	seen := map[string]bool{}
	before, kept := int64(1<<62), false
	for _, lane := range few.Lanes {
		name := lane.Row.Lock.Class + " " + lane.Row.Name
		assert.Equal(t, viewapi.Namesakes{Locks: locks[name], Time: times[name]}, lane.Namesakes)
		assert.LessOrEqual(t, lane.Namesakes.Time, before)
		before, kept = lane.Namesakes.Time, kept || lane.Row.Lock.ID == last
		assert.True(t, !seen[name] || lane.Row.Lock.ID == last, "one of each name")
		seen[name] = true
	}
	assert.Len(t, seen, len(locks))
	assert.True(t, kept)
}
