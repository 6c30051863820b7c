// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// What is known by construction of ReportAndMatchers, in milliseconds.
const (
	ReportRounds = 5
	ReportHeld   = ReportRounds * 240 // by report while a matcher waits
	MatchersWait = ReportRounds * (240 + 232 + 224)
	PoolClients  = 6 // of which two have a connection
	PoolRounds   = 60
)

const (
	parkFrames = "at jdk.internal.misc.Unsafe.park(Native Method)\nat java.util.concurrent.locks.LockSupport.park(LockSupport.java:211)\n"
	lockFrames = parkFrames + "at java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire(AbstractQueuedSynchronizer.java:715)\n" +
		"at java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:322)\n" +
		"at com.acme.Matcher.match(Matcher.java:42)\n- lock OrderBook.lock\nat com.acme.Matcher.run(Matcher.java:17)\n"
	poolFrames = parkFrames + "at com.zaxxer.hikari.util.ConcurrentBag.borrow(ConcurrentBag.java:151)\n" +
		"at com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:162)\n" +
		"at com.zaxxer.hikari.HikariDataSource.getConnection(HikariDataSource.java:128)\nat com.acme.Shop.buy(Shop.java:20)\n"
	idleFrames = parkFrames + "at java.util.concurrent.LinkedBlockingQueue.take(LinkedBlockingQueue.java:433)\n" +
		"at java.util.concurrent.ThreadPoolExecutor.getTask(ThreadPoolExecutor.java:1062)\nat java.lang.Thread.run(Thread.java:840)\n"
)

// ReportAndMatchers returns the history of a program with locks of java.util.concurrent, in nanoseconds from a start. In each of its rounds of
// 300 ms, report sleeps in Report.write while it holds the ReentrantLock OrderBook.lock, for which three matchers wait for 240, 232 and 224 ms.
// Then clients wait for the two connections of a pool. A worker has no task, and a thread of the JVM runs all the time.
func ReportAndMatchers(sym *symbols.Table) []jvmthread.Event {
	const ms, wake = 1_000_000, 1_000 // a thread runs again a microsecond after it was unparked
	lock := jvmthread.LockID{Class: sym.InternClass("java.util.concurrent.locks.ReentrantLock$NonfairSync"), Hash: 0xb00c}
	pool := jvmthread.LockID{Class: sym.InternClass("java.util.concurrent.SynchronousQueue"), Hash: 0x9001}
	tasks := jvmthread.LockID{Class: sym.InternClass("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"), Hash: 0x1d1e}
	var events []jvmthread.Event
	add := func(at int, id jvmthread.ThreadID, kind jvmthread.Kind, more jvmthread.Event, stack string) {
		more.Time += jvmthread.Time(at * ms)
		more.Thread, more.Kind = id, kind
		if stack != "" {
			more.Stack = sym.InternStack(stack)
		}
		events = append(events, more)
	}
	names := []string{"main", "report", "matcher-1", "matcher-2", "matcher-3", "pool-1-thread-1", "Notification Thread"}
	for i := range PoolClients {
		names = append(names, fmt.Sprintf("client-%d", i+1))
	}
	for i, name := range names {
		th := jvmthread.Thread{ID: jvmthread.ThreadID(i + 1), Name: name, Group: "main"}
		if name == "Notification Thread" {
			th.Group, th.Daemon = "system", true
		}
		sym.SetThread(th)
		add(1, th.ID, jvmthread.KindThreadStart, jvmthread.Event{}, "")
	}
	const report, worker, firstClient = 2, 6, 8
	add(2, worker, jvmthread.KindPark, jvmthread.Event{Lock: tasks}, idleFrames)
	sleep := "at java.lang.Thread.sleep(Native Method)\n"
	for r := range ReportRounds {
		at := 100 + 300*r
		add(at+5, report, jvmthread.KindSleepStart, jvmthread.Event{}, sleep+"at com.acme.Report.write(Report.java:30)\nat com.acme.Report.run(Report.java:9)\n")
		for m := range 3 {
			add(at+10+10*m, jvmthread.ThreadID(report+1+m), jvmthread.KindPark, jvmthread.Event{Lock: lock, Peer: report}, lockFrames)
		}
		add(at+245, report, jvmthread.KindSleepEnd, jvmthread.Event{}, "")
		for m := range 3 {
			next := jvmthread.ThreadID(report + 1 + m)
			add(at+250+2*m, next-1, jvmthread.KindUnpark, jvmthread.Event{Peer: next}, "")
			add(at+250+2*m, next, jvmthread.KindUnparked, jvmthread.Event{Time: wake}, "")
		}
	}
	queue := []jvmthread.ThreadID{}
	for i := range PoolClients {
		queue = append(queue, jvmthread.ThreadID(firstClient+i))
	}
	at := 100 + 300*ReportRounds
	for _, id := range queue[2:] {
		add(at, id, jvmthread.KindPark, jvmthread.Event{Lock: pool}, poolFrames)
	}
	query := sleep + "at com.acme.Shop.query(Shop.java:55)\nat com.acme.Shop.buy(Shop.java:21)\n"
	asleep := map[jvmthread.ThreadID]bool{}
	for range PoolRounds {
		at += 10
		from, to := queue[0], queue[2]
		if asleep[from] {
			add(at-1, from, jvmthread.KindSleepEnd, jvmthread.Event{}, "")
		}
		add(at, from, jvmthread.KindUnpark, jvmthread.Event{Peer: to}, "")
		add(at, to, jvmthread.KindUnparked, jvmthread.Event{Time: wake}, "")
		add(at+1, to, jvmthread.KindSleepStart, jvmthread.Event{}, query)
		add(at+2, from, jvmthread.KindPark, jvmthread.Event{Lock: pool}, poolFrames)
		asleep[from], asleep[to] = false, true
		queue = []jvmthread.ThreadID{queue[1], to, queue[3], queue[4], queue[5], from}
	}
	add(at+20, 1, jvmthread.KindThreadEnd, jvmthread.Event{}, "")
	slices.SortStableFunc(events, func(a, b jvmthread.Event) int { return cmp.Compare(a.Time, b.Time) })
	return events
}
