// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package top

import (
	"context"
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

const (
	ms  = int64(time.Millisecond)
	sec = int64(time.Second)
)

func stateNames() (names []string) {
	for i := range jvmthread.NumStates {
		names = append(names, jvmthread.State(i).String())
	}
	return names
}

// exchange is a program in which a report keeps three matchers from a lock.
func exchange() snapshot {
	report := viewapi.ThreadRef{ID: 2, Name: "report"}
	book := viewapi.LockRef{ID: 1, Class: "com.acme.exchange.OrderBook", Hash: "1b2c"}
	answer := viewapi.Answer{Time: 18 * sec, Most: &viewapi.Cost{
		CostRow: viewapi.CostRow{Name: "OrderBook.lock", Kind: "lock", Locks: 1, Time: 17_600 * ms, Count: 310}, Waiters: 3, Culprit: true,
		Who:     []viewapi.ThreadGroup{{Name: "matcher-*", Threads: 3, Time: 17_600 * ms}},
		Site:    &viewapi.Site{Function: "com.acme.exchange.OrderBook.match"},
		Holders: []viewapi.Holder{{Thread: report, Share: 0.26, Time: 2600 * ms, Text: "asleep in Clock.sleep", Method: "com.acme.exchange.Clock.sleep", Part: 0.95}},
	}}
	answer.Text = wording.Cost(answer.Most)
	s := snapshot{
		info: viewapi.Info{States: stateNames()}, loaded: true, from: 175 * sec, to: 185 * sec,
		asked: want{window: 10 * time.Second, kind: kinds[0]},
		session: viewapi.Session{
			Service: "exchange", PID: 4711, JVM: "OpenJDK Runtime Environment 17.0.12", Live: true, To: 185 * sec, Origin: "1700000000000000000",
			Events: 228_000, Lost: 12, Incidents: 1, Version: 1,
		},
		answer:  answer,
		waiting: viewapi.Waiting{At: 185 * sec, Total: 5, Blocked: 3},
		locks: viewapi.Locks{Total: 2, Locks: []viewapi.LockRow{
			{
				Lock: book, Name: "OrderBook.lock", Kind: "lock", Blocked: viewapi.StateTime{Count: 310, Time: 17_600 * ms},
				Held: viewapi.StateTime{Count: 320, Time: 9_800 * ms}, Handoffs: 300, Holders: 4, Waiters: 3, Convoy: 37,
			},
			{
				Lock: viewapi.LockRef{ID: 2, Class: "com.zaxxer.hikari.pool.HikariPool", Hash: "77"}, Name: "HikariPool", Kind: "pool",
				Blocked: viewapi.StateTime{Count: 1, Time: 400 * ms}, Waiters: 1,
			},
		}},
		callers: viewapi.Callers{Kind: "blocked", Total: 1, Callers: []viewapi.CallerRow{{
			Class: book.Class, Name: "OrderBook.lock", Wait: "lock", Method: "com.acme.exchange.OrderBook.match", Threads: 3, Monitors: 1,
			Stats:   viewapi.Stats{Count: 310, Time: 17_600 * ms, Average: 57 * ms, P95: 120 * ms, Max: 1200 * ms},
			Stacks:  []viewapi.StackUse{{Stack: 7, Count: 310, Time: 17_600 * ms, Line: "OrderBook.java:42"}},
			Longest: viewapi.Reference{Thread: viewapi.ThreadRef{ID: 4, Name: "matcher-2"}, Title: "blocked OrderBook.lock"},
		}}},
		incidents: viewapi.Incidents{Total: 1, Incidents: []viewapi.Incident{{
			From: 60 * sec, To: 62 * sec, Name: "contention OrderBook",
			Text:    "report held OrderBook.lock for 2 s, asleep in Clock.sleep; 3 matchers waited",
			Blocked: 5800 * ms, Longest: 1990 * ms, Waited: 3, Threads: 3, Holds: []viewapi.IncidentPart{{
				Thread: report, Object: "OrderBook.lock", Blocked: 5800 * ms, Text: "report slept 2 s in Clock.sleep",
				Frames: []string{"java.lang.Thread.sleep(Native Method)", "com.acme.Clock.sleep(Clock.java:9)"},
			}},
		}}},
	}
	for i, name := range []string{"matcher-1", "matcher-2", "matcher-3"} {
		s.waiting.Rows = append(s.waiting.Rows, viewapi.WaitingRow{
			Thread: viewapi.ThreadRef{ID: uint64(3 + i), Name: name}, State: int(jvmthread.StateBlocked), Wait: "lock", Object: "OrderBook.lock",
			Lock: book, Since: 183*sec + int64(i)*300*ms, Time: 2*sec - int64(i)*300*ms, Method: "com.acme.exchange.OrderBook.match",
			Line: "OrderBook.java:42", Stack: 7, Holder: &report, Doing: "asleep in Clock.sleep",
		})
		s.threads.Threads = append(s.threads.Threads, viewapi.ThreadRow{
			Thread: viewapi.Thread{ID: uint64(3 + i), Name: name, Group: "main", Pool: "matcher-*", To: 185 * sec},
			ThreadSum: viewapi.ThreadSum{
				Time: 10 * sec, Blocked: viewapi.StateTime{Count: 100, Time: 5800 * ms},
				States: []viewapi.StateTime{
					jvmthread.StateRunnable: {Count: 100, Time: 4200 * ms}, jvmthread.StateBlocked: {Count: 100, Time: 5800 * ms},
				},
			},
		})
	}
	s.threads.Total = 3
	s.waiting.Rows = append(s.waiting.Rows,
		viewapi.WaitingRow{
			Thread: report, State: int(jvmthread.StateSleeping), Wait: "sleep", Since: 182 * sec, Time: 3 * sec,
			Method: "com.acme.Clock.sleep", Line: "Clock.java:9",
		},
		viewapi.WaitingRow{
			Thread: viewapi.ThreadRef{ID: 9, Name: "http-nio-8080-exec-10"}, State: int(jvmthread.StateParked), Wait: "queue",
			Object: "ArrayBlockingQueue", Since: 184_990 * ms, Time: 10 * ms, Method: "com.acme.exchange.Gateway.put", Line: "Gateway.java:77",
		})
	return s
}

// deadlocked is the same program when two of its threads wait for each other.
func deadlocked() snapshot {
	s := exchange()
	s.session.Deadlocks = []viewapi.Deadlock{{ID: "d1", Since: 150 * sec, Text: "a -> Left -> b -> Right -> a"}}
	for i, name := range []string{"a", "b"} {
		w := &s.waiting.Rows[i]
		w.Thread.Name, w.State, w.Object, w.Deadlock = name, int(jvmthread.StateDeadlocked), []string{"Left", "Right"}[i], "d1"
		w.Since, w.Time = 150*sec, 35*sec
		w.Holder, w.Doing = &viewapi.ThreadRef{Name: []string{"b", "a"}[i]}, "deadlocked in Transfer.run"
	}
	return s
}

// still returns a screen without a page, at a fixed time.
func still(t testing.TB, s snapshot, width, height int) *model {
	t.Helper()
	m := newModel(context.Background(), nil, "a0000000000000000000000000000001", Options{}.withDefaults())
	now := time.Unix(1_700_000_185, 0)
	m.clock, m.zone, m.data, m.width, m.height = func() time.Time { return now }, time.UTC, s, width, height
	m.rebuild()
	return m
}
