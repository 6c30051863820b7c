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

// oneMailer is the history of requests that wait for tasks from 10 ms on, which one worker runs for 100 ms each: the first one from 10 ms on, each
// further one after a rest. Two requests wait for each task.
func oneMailer(sym *symbols.Table, rest int64) []jvmthread.Event {
	const mailer, tasks, waiters = 1, 3, 2
	get := sym.InternStack("at jdk.internal.misc.Unsafe.park(Native Method)\nat java.util.concurrent.FutureTask.get(F.java:1)\nat com.acme.Shop.buy(Shop.java:3)")
	worker := "\nat java.util.concurrent.ThreadPoolExecutor.runWorker(T.java:9)"
	send := sym.InternStack("at java.lang.Thread.sleep(Native Method)\nat com.acme.Smtp.send(Smtp.java:1)" + worker)
	idle := sym.InternStack("at jdk.internal.misc.Unsafe.park(Native Method)\nat java.util.concurrent.ThreadPoolExecutor.getTask(T.java:5)" + worker)
	class := sym.InternClass("java.util.concurrent.FutureTask")
	var events []jvmthread.Event
	add := func(us int64, thread jvmthread.ThreadID, kind jvmthread.Kind, more jvmthread.Event) {
		more.Time, more.Thread, more.Kind = jvmthread.Time(us*1000), thread, kind
		events = append(events, more)
	}
	sym.SetThread(jvmthread.Thread{ID: mailer, Name: "mailer-1", Group: "main"})
	add(1000, mailer, jvmthread.KindThreadStart, jvmthread.Event{})
	request := func(task, waiter int64) jvmthread.ThreadID { return jvmthread.ThreadID(10 + waiters*task + waiter) }
	for task := range int64(tasks) {
		for waiter := range int64(waiters) {
			id := request(task, waiter)
			sym.SetThread(jvmthread.Thread{ID: id, Name: "request-" + string(rune('0'+id)), Group: "main"})
			add(1000, id, jvmthread.KindThreadStart, jvmthread.Event{})
			park := jvmthread.Event{Stack: get, Lock: jvmthread.LockID{Class: class, Hash: uint32(task + 1)}}
			if task == 0 {
				park.Peer = mailer // it runs already
			}
			add(10_000, id, jvmthread.KindPark, park)
		}
	}
	at := int64(10_000)
	for task := range int64(tasks) {
		add(at, mailer, jvmthread.KindSleepStart, jvmthread.Event{Stack: send})
		at += 100_000
		add(at, mailer, jvmthread.KindSleepEnd, jvmthread.Event{})
		for waiter := range int64(waiters) {
			add(at+waiter, mailer, jvmthread.KindUnpark, jvmthread.Event{Peer: request(task, waiter)})
		}
		for waiter := range int64(waiters) {
			add(at+2+waiter, request(task, waiter), jvmthread.KindUnparked, jvmthread.Event{})
		}
		if rest > 0 {
			add(at+10, mailer, jvmthread.KindPark, jvmthread.Event{Stack: idle})
			add(at+rest, mailer, jvmthread.KindUnparked, jvmthread.Event{})
			at += rest
		}
		at += 10
	}
	return events
}

// A task is queued until its worker has completed the one before. It is not if the worker was idle: then it was submitted later.
func TestTasksAreQueuedWhileTheirWorkerIsBusy(t *testing.T) {
	for rest, want := range map[int64]float64{0: 2 * (100_000.0 + 200_010 + 2) / (2*(100_000+200_010+300_020) + 3*5), 20_000: 0} {
		sym := symbols.New(symbols.DefaultLimits())
		f := fixtureOf(t, sym, oneMailer(sym, rest), time.Second)
		most := ask[viewapi.Answer](f, "/answer").Most
		require.NotNil(t, most)
		assert.Equal(t, "future", most.Kind)
		assert.Equal(t, 6, most.Waiters)
		assert.Equal(t, want, most.Queued)
	}
}
