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
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// TestWhoCouldEndItIsAway: of waits that go on, the answer says what those do that ended such waits before.
func TestWhoCouldEndItIsAway(t *testing.T) {
	const giver, waiter, other = 1, 2, 3
	for name, test := range map[string]struct {
		history func(s *script)
		text    string
	}{
		"asleep": {
			func(*script) {}, "waiter waited 971 ms for a notify of Mailbox in Shop.acquire; 1 wait of 960 ms did not end: giver, which notified it before, has been " +
				"asleep in Shop.rest for 950 ms.",
		},
		"asleep for most of the time": {
			func(s *script) {
				s.add(760, giver, jvmthread.KindSleepEnd, jvmthread.Event{})
				s.add(760, giver, jvmthread.KindPark, jvmthread.Event{Stack: s.stack("java.util.concurrent.locks.LockSupport.park", "think")})
			}, "waiter waited 971 ms for a notify of Mailbox in Shop.acquire; 1 wait of 960 ms did not end: giver, which notified it before, has mostly been " +
				"asleep in Shop.rest for 720 ms.",
		},
		"it has just ended another wait": {
			func(s *script) {
				box := s.lock("com.acme.Mailbox")
				s.add(25, other, jvmthread.KindWait, jvmthread.Event{Lock: box, Stack: s.stack("java.lang.Object.wait", "acquire")})
				s.add(900, giver, jvmthread.KindSleepEnd, jvmthread.Event{})
				s.add(900, giver, jvmthread.KindNotify, jvmthread.Event{Lock: box})
				s.add(901, other, jvmthread.KindWaited, jvmthread.Event{Lock: box})
				s.add(902, other, jvmthread.KindWaitReturned, jvmthread.Event{Lock: box})
			}, "waiter and other waited 1.85 s for a notify of Mailbox in Shop.acquire; giver notified it in 48 % of that time, asleep in Shop.rest; 1 wait of 960 ms " +
				"did not end.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{sym: symbols.New(symbols.DefaultLimits())}
			s.thread(giver, "giver")
			s.thread(waiter, "waiter")
			s.thread(other, "other")
			s.thread(4, "last")
			s.waitsInVain("acquire", giver, waiter)
			s.add(40, giver, jvmthread.KindSleepStart, jvmthread.Event{Stack: s.stack("java.lang.Thread.sleep", "rest")})
			test.history(s)
			s.add(990, 4, jvmthread.KindThreadEnd, jvmthread.Event{})
			answer := ask[viewapi.Answer](fixtureOf(t, s.sym, s.events, time.Second), "/answer")
			require.NotNil(t, answer.Most)
			assert.Zero(t, answer.Most.Stuck)
			assert.Equal(t, test.text, wording.Plain(answer.Text))
		})
	}
}

// TestNotifyInVain: of waits for a notify, the answer says that one came before, and leaves open what that means.
func TestNotifyInVain(t *testing.T) {
	s := &script{sym: symbols.New(symbols.DefaultLimits())}
	s.thread(1, "starter")
	s.thread(2, "printer")
	s.thread(4, "last")
	box := s.lock("com.acme.Box")
	s.add(10, 1, jvmthread.KindNotify, jvmthread.Event{Lock: box, Stack: s.stack("java.lang.Object.notify", "open")})
	s.add(20, 1, jvmthread.KindThreadEnd, jvmthread.Event{})
	s.add(30, 2, jvmthread.KindWait, jvmthread.Event{Lock: box, Stack: s.stack("java.lang.Object.wait", "await")})
	s.add(990, 4, jvmthread.KindThreadEnd, jvmthread.Event{})
	f := fixtureOf(t, s.sym, s.events, time.Second)
	called, began, end := jvmthread.Time(10*ms), jvmthread.Time(30*ms), jvmthread.Time(990*ms)
	f.session.AddIncident(store.Incident{
		IncidentID: store.IncidentID{Kind: store.KindLostNotify, Start: called, First: 1}, End: end, Open: true,
		Holds: []store.IncidentPart{{Start: called, End: called, Thread: 1, Function: "com.acme.Shop.open"}},
		Waits: []store.IncidentPart{{Start: began, End: end, Thread: 2}},
	})
	answer := ask[viewapi.Answer](f, "/answer")
	assert.Equal(t, "Nothing to report, unless these threads should have had work: printer waited 960 ms for a notify of Box in Shop.await; starter called notify in "+
		"Shop.open before, when no thread waited.", wording.Plain(answer.Text))
}

// TestVirtualThreadsNeedExact: who ended waits of virtual threads is known with the option virtual=exact only, and the answer says so.
func TestVirtualThreadsNeedExact(t *testing.T) {
	const opens, waits = 1, 2
	for name, test := range map[string]struct {
		virtual, exact bool
		text           string
	}{
		"virtual": {virtual: true, text: "waits waited 960 ms at a latch in Shop.await; who ended that is not known (with virtual=exact it is)."},
		"exact":   {virtual: true, exact: true, text: "waits waited 960 ms at a latch in Shop.await; who ended that is not known."},
		"not":     {text: "waits waited 960 ms at a latch in Shop.await; who ended that is not known."},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{sym: symbols.New(symbols.DefaultLimits())}
			s.thread(opens, "opens")
			s.sym.SetThread(jvmthread.Thread{ID: waits, Name: "waits", Virtual: test.virtual})
			if test.exact {
				s.add(0, opens, jvmthread.KindStartCalled, jvmthread.Event{Peer: waits})
			}
			s.add(1, waits, jvmthread.KindThreadStart, jvmthread.Event{})
			s.add(20, waits, jvmthread.KindPark, jvmthread.Event{
				Lock: s.lock("java.util.concurrent.CountDownLatch$Sync"), Stack: s.stack("java.util.concurrent.CountDownLatch.await", "await"),
			})
			s.add(980, waits, jvmthread.KindUnparked, jvmthread.Event{})
			s.add(990, opens, jvmthread.KindThreadEnd, jvmthread.Event{})
			answer := ask[viewapi.Answer](fixtureOf(t, s.sym, s.events, time.Second), "/answer")
			assert.Equal(t, test.text, wording.Plain(answer.Text))
		})
	}
}

// A barrier waits for another party than those that wait there.
func TestAPartyOfABarrierIsMissing(t *testing.T) {
	for name, test := range map[string]struct {
		ends bool
		text string
	}{
		"it has ended": {true, "2 workers waited 1.95 s at a barrier in Shop.meet; 2 waits of 1.92 s did not end, and worker-3, which came before, has ended."},
		"it sleeps": {
			false, "2 workers waited 1.95 s at a barrier in Shop.meet; 2 waits of 1.92 s did not end: worker-3, which came before, has been asleep in " +
				"Shop.rest for 950 ms.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &script{sym: symbols.New(symbols.DefaultLimits())}
			s.thread(1, "worker-1")
			s.thread(2, "worker-2")
			s.thread(3, "worker-3")
			s.thread(4, "last")
			meet := jvmthread.Event{Lock: s.lock("java.util.concurrent.CyclicBarrier"), Stack: s.stack("java.util.concurrent.CyclicBarrier.await", "meet")}
			for _, worker := range []jvmthread.ThreadID{1, 2} {
				s.add(5, worker, jvmthread.KindPark, meet)
				s.add(20, 3, jvmthread.KindUnpark, jvmthread.Event{Peer: worker})
				s.add(21, worker, jvmthread.KindUnparked, jvmthread.Event{})
				s.add(30, worker, jvmthread.KindPark, meet)
			}
			s.add(40, 3, jvmthread.KindSleepStart, jvmthread.Event{Stack: s.stack("java.lang.Thread.sleep", "rest")})
			if test.ends {
				s.add(50, 3, jvmthread.KindThreadEnd, jvmthread.Event{})
			}
			s.add(990, 4, jvmthread.KindThreadEnd, jvmthread.Event{})
			answer := ask[viewapi.Answer](fixtureOf(t, s.sym, s.events, time.Second), "/answer")
			assert.Equal(t, test.text, wording.Plain(answer.Text))
		})
	}
}
