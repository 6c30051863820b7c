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
	"github.com/weft-otel/weft/internal/wording"
)

// script is a history: each event has a time in milliseconds and a thread.
type script struct {
	sym    *symbols.Table
	events []jvmthread.Event
}

func (s *script) thread(id jvmthread.ThreadID, name string) {
	s.sym.SetThread(jvmthread.Thread{ID: id, Name: name, Group: "main"})
	s.add(0, id, jvmthread.KindThreadStart, jvmthread.Event{})
}

func (s *script) add(at int, id jvmthread.ThreadID, kind jvmthread.Kind, ev jvmthread.Event) {
	ev.Time, ev.Thread, ev.Kind = jvmthread.Time(int64(at)*ms), id, kind
	s.events = append(s.events, ev)
}

func (s *script) stack(wait, method string) jvmthread.StackID {
	return s.sym.InternStack("at " + wait + "(X.java:1)\nat com.acme.Shop." + method + "(Shop.java:7)\nat java.lang.Thread.run(Thread.java:1)")
}

func (s *script) lock(class string) jvmthread.LockID {
	return jvmthread.LockID{Class: s.sym.InternClass(class), Hash: 1}
}

// notified is a wait that a notify ends, and another one.
func (s *script) notified(by, waiter jvmthread.ThreadID) { s.waitsInVain("take", by, waiter) }

func (s *script) waitsInVain(method string, by, waiter jvmthread.ThreadID) {
	box := s.lock("com.acme.Mailbox")
	wait := jvmthread.Event{Lock: box, Stack: s.stack("java.lang.Object.wait", method)}
	s.add(10, waiter, jvmthread.KindWait, wait)
	s.add(20, by, jvmthread.KindNotify, jvmthread.Event{Lock: box})
	s.add(21, waiter, jvmthread.KindWaited, jvmthread.Event{Lock: box})
	s.add(22, waiter, jvmthread.KindWaitReturned, jvmthread.Event{Lock: box})
	s.add(30, waiter, jvmthread.KindWait, wait)
}

// TestStuckWaits: of waits without an end, the answer says why they never will, as far as it is known who could end them.
func TestStuckWaits(t *testing.T) {
	const holder, waiter, other = 1, 2, 3
	lockWait := "java.util.concurrent.locks.ReentrantLock.lock"
	for name, test := range map[string]struct {
		history func(s *script)
		stuck   int
		certain bool
		text    string
	}{
		"the owner has ended": {func(s *script) {
			lock := s.lock("java.util.concurrent.locks.ReentrantLock$NonfairSync")
			s.add(10, waiter, jvmthread.KindPark, jvmthread.Event{Lock: lock, Stack: s.stack(lockWait, "order"), Peer: holder})
			s.add(20, holder, jvmthread.KindThreadEnd, jvmthread.Event{})
		}, 1, true, "waiter waited 980 ms for the ReentrantLock of Shop.order; 1 wait of 980 ms did not end, and holder, which held it, has ended."},
		"the owner waits for a thread that waits for the lock": {func(s *script) {
			lock := s.lock("com.acme.Ledger")
			s.add(10, waiter, jvmthread.KindContendedEnter, jvmthread.Event{Lock: lock, Stack: s.stack("com.acme.Ledger.post", "order"), Peer: holder})
			s.add(20, holder, jvmthread.KindJoinStart, jvmthread.Event{Peer: waiter, Stack: s.stack("java.lang.Thread.join", "close")})
		}, 2, true, "holder held Ledger for 980 ms, mostly joining a thread in Shop.close; waiter waited 980 ms for it; 1 wait of 980 ms did not end, and holder, " +
			"which holds it, waits for waiter, which waits for it."},
		"a reader wants to write": {func(s *script) {
			lock := s.lock("java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync")
			s.add(10, holder, jvmthread.KindPark, jvmthread.Event{
				Lock: lock, Stack: s.stack("java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock.lock", "evict"), Peer: holder,
			})
			s.add(20, waiter, jvmthread.KindPark, jvmthread.Event{Lock: lock, Stack: s.stack("java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock.lock", "get")})
		}, 2, true, "holder and waiter waited 1.95 s for the ReentrantReadWriteLock of Shop.evict; 2 waits of 1.95 s did not end: holder, which holds it, waits for " +
			"itself."},
		"whoever notified before has ended": {func(s *script) {
			s.notified(holder, waiter)
			s.add(40, holder, jvmthread.KindThreadEnd, jvmthread.Event{})
		}, 1, false, "waiter waited 971 ms for a notify of Mailbox in Shop.take; 1 wait of 960 ms did not end, and holder, which notified it before, has ended."},
		"another thread may notify": {func(s *script) { s.notified(holder, waiter) }, 0, false, ""},
		"another thread of the pool of the one that has ended may notify": {func(s *script) {
			s.thread(8, "dispatcher-1")
			s.thread(9, "dispatcher-2")
			s.notified(8, waiter)
			s.add(40, 8, jvmthread.KindThreadEnd, jvmthread.Event{})
		}, 0, false, ""},
		"the joined thread has just ended": {func(s *script) {
			s.add(980, waiter, jvmthread.KindJoinStart, jvmthread.Event{Peer: holder, Stack: s.stack("java.lang.Thread.join", "close")})
			s.add(985, holder, jvmthread.KindThreadEnd, jvmthread.Event{})
		}, 0, false, ""},
		"a timeout ends it": {func(s *script) {
			lock := s.lock("java.util.concurrent.locks.ReentrantLock$NonfairSync")
			s.add(10, waiter, jvmthread.KindPark, jvmthread.Event{Lock: lock, Stack: s.stack(lockWait, "order"), Peer: holder, Arg: 30_000 * ms})
			s.add(20, holder, jvmthread.KindThreadEnd, jvmthread.Event{})
		}, 0, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{sym: symbols.New(symbols.DefaultLimits())}
			s.thread(holder, "holder")
			s.thread(waiter, "waiter")
			s.thread(other, "other")
			test.history(s)
			s.add(980, other, jvmthread.KindSleepStart, jvmthread.Event{Stack: s.stack("java.lang.Thread.sleep", "rest")})
			s.add(990, other, jvmthread.KindThreadEnd, jvmthread.Event{})
			answer := ask[viewapi.Answer](fixtureOf(t, s.sym, s.events, time.Second), "/answer")
			assert.Equal(t, test.stuck, answer.Stuck)
			if test.stuck == 0 {
				assert.True(t, answer.Most == nil || answer.Most.Stuck == 0)
				return
			}
			require.NotNil(t, answer.Most)
			assert.Equal(t, test.certain, answer.Most.Certain)
			assert.Equal(t, test.text, wording.Plain(answer.Text))
		})
	}
}
