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

// ServiceSize is the size of a Service: at least 40 threads, each of which that works takes a task in each of the rounds.
type ServiceSize struct{ Threads, Rounds int }

// What is known by construction of Service.
const (
	ServiceBegun  = 0                      // when the threads start, since the origin of the session
	ServiceRound  = 20_000_000             // length of a round, in ns
	ServiceHTTP   = "http-nio-24180-exec-" // four fifths of the threads; a third of them never has a task
	ServiceWorker = "order-worker-"
)

// ServiceJVM are the threads of the JVM of a Service, ServiceSingles the others that are in no pool.
var (
	ServiceJVM = []string{
		"Reference Handler", "Finalizer", "Signal Dispatcher", "Service Thread", "Monitor Deflation Thread", "C2 CompilerThread0", "C1 CompilerThread0",
		"Notification Thread", "Common-Cleaner", "Attach Listener", "Cleaner-0",
	}
	ServiceSingles = []string{"main", "report", "scheduling-1", "HikariPool-1 housekeeper", "Catalina-utility-1", "container-0"}
)

// Service returns the history of a web application, in nanoseconds from a start: threads of the JVM, single threads of which only main and report
// are not idle, and two pools. In each round, workers of both take a task. Some of them wait for the lock OrderBook.lock, which report holds,
// some for a connection of HikariPool, and the others only run.
func Service(sym *symbols.Table, size ServiceSize) []jvmthread.Event {
	s := &service{
		sym:   sym,
		lock:  jvmthread.LockID{Class: sym.InternClass("java.util.concurrent.locks.ReentrantLock$NonfairSync"), Hash: 0xb00c},
		pool:  jvmthread.LockID{Class: sym.InternClass("java.util.concurrent.SynchronousQueue"), Hash: 0x9001},
		tasks: jvmthread.LockID{Class: sym.InternClass("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"), Hash: 0x1d1e},
	}
	for _, name := range ServiceJVM {
		s.start(jvmthread.Thread{Name: name, Group: "system", Daemon: true})
	}
	for _, name := range ServiceSingles {
		id := s.start(jvmthread.Thread{Name: name, Group: "main"})
		if name != "main" && name != "report" {
			s.add(1000, id, jvmthread.Event{Kind: jvmthread.KindPark, Lock: s.tasks, Stack: sym.InternStack(idleFrames)})
		}
	}
	report := jvmthread.ThreadID(len(ServiceJVM) + 2)
	workers := size.Threads - int(s.last)
	http := workers * 4 / 5
	for i := range workers {
		name := fmt.Sprintf("%s%d", ServiceHTTP, i+1)
		if i >= http {
			name = fmt.Sprintf("%s%d", ServiceWorker, i-http+1)
		}
		id := s.start(jvmthread.Thread{Name: name, Group: "main", Daemon: true})
		s.add(1000, id, jvmthread.Event{Kind: jvmthread.KindPark, Lock: s.tasks, Stack: sym.InternStack(idleFrames)})
		if i >= http || i < http*2/3 {
			for r := range size.Rounds {
				s.task(id, report, i, r)
			}
		}
	}
	s.add(int64(size.Rounds)*ServiceRound, 1, jvmthread.Event{Kind: jvmthread.KindYield})
	slices.SortStableFunc(s.events, func(a, b jvmthread.Event) int { return cmp.Compare(a.Time, b.Time) })
	return s.events
}

type service struct {
	sym               *symbols.Table
	lock, pool, tasks jvmthread.LockID
	last              jvmthread.ThreadID
	events            []jvmthread.Event
}

func (s *service) add(at int64, thread jvmthread.ThreadID, ev jvmthread.Event) {
	ev.Time, ev.Thread = jvmthread.Time(at+ServiceBegun), thread
	s.events = append(s.events, ev)
}

func (s *service) start(th jvmthread.Thread) jvmthread.ThreadID {
	s.last++
	th.ID = s.last
	s.sym.SetThread(th)
	s.add(0, th.ID, jvmthread.Event{Kind: jvmthread.KindThreadStart})
	return th.ID
}

// task adds a task of a worker: it waits for the lock, for a connection, or for nothing, and then for the next task.
func (s *service) task(id, report jvmthread.ThreadID, i, round int) {
	const us = 1000
	at := int64(round)*ServiceRound + int64(100+i*7919%4000)*us
	s.add(at, id, jvmthread.Event{Kind: jvmthread.KindUnparked})
	at += int64(50+i*31%900) * us
	wait := jvmthread.Event{Kind: jvmthread.KindPark, Lock: s.lock, Peer: report, Stack: s.sym.InternStack(lockFrames)}
	switch (i + round) % 8 {
	case 0, 1:
	case 2, 3, 4:
		wait.Lock, wait.Peer, wait.Stack = s.pool, jvmthread.NoThread, s.sym.InternStack(poolFrames)
	default:
		wait.Kind = 0
	}
	if wait.Kind != 0 {
		s.add(at, id, wait)
		at += int64(500+(i*104729+round*811)%9000) * us
		s.add(at, id, jvmthread.Event{Kind: jvmthread.KindUnparked})
	}
	at += int64(200+i*17%1500) * us
	s.add(at, id, jvmthread.Event{Kind: jvmthread.KindPark, Lock: s.tasks, Stack: s.sym.InternStack(idleFrames)})
}
