// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// ShopRequest is a request that really happened in a Shop.
type ShopRequest struct {
	Span     jvmthread.SpanContext // on the thread that got the request
	Name     string
	From, To jvmthread.Time
	Threads  []jvmthread.ThreadID // that worked on it, in the order in which they began
	Waits    []ShopWait
}

// ShopWait is a wait of a request.
type ShopWait struct {
	Thread   jvmthread.ThreadID
	From, To jvmthread.Time
	Wait     jvmthread.Wait
	Holder   jvmthread.ThreadID // that had the lock longest meanwhile
}

// ShopThreads is the number of threads that get requests. Each has a worker with the next higher ID but ShopThreads.
const ShopThreads = 6

// shopReport is the thread that holds the lock for long.
const shopReport jvmthread.ThreadID = 2*ShopThreads + 1

const (
	shopIdle  = idleFrames + "at org.apache.tomcat.util.threads.TaskThread$WrappingRunnable.run(TaskThread.java:61)\n"
	shopFirst = 1_000_000
)

var shopRoutes = []string{"GET /items/{id}", "POST /orders", "GET /checkout"}

// shop makes the history of a Shop.
type shop struct {
	sym    *symbols.Table
	rng    *rand.Rand
	lock   jvmthread.LockID
	task   jvmthread.LockID
	tasks  jvmthread.LockID
	holds  []jvmthread.Hold // of the lock, by time
	events []jvmthread.Event
}

// Shop returns the history of a web application that reports its spans, in nanoseconds from a start, and its requests. Each gets the lock
// Inventory, which the thread report holds while it sleeps in Report.write, and then sleeps in Payment.call. Those of the last route also wait
// for a task on another thread, which is part of the same trace.
func Shop(sym *symbols.Table, seed uint64, requests int) ([]jvmthread.Event, []ShopRequest) {
	s := &shop{
		sym: sym, rng: rand.New(rand.NewPCG(seed, 3)),
		lock:  jvmthread.LockID{Class: sym.InternClass("com.acme.shop.Inventory"), Hash: 0x10c},
		task:  jvmthread.LockID{Class: sym.InternClass("java.util.concurrent.FutureTask"), Hash: 0x7a5c},
		tasks: jvmthread.LockID{Class: sym.InternClass("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"), Hash: 0x1d1e},
	}
	for id := jvmthread.ThreadID(1); id <= shopReport; id++ {
		th := jvmthread.Thread{ID: id, Name: fmt.Sprintf("http-nio-8080-exec-%d", id), Group: "main", Daemon: true}
		switch {
		case id == shopReport:
			th.Name, th.Daemon = "report", false
		case id > ShopThreads:
			th.Name = fmt.Sprintf("pool-1-thread-%d", id-ShopThreads)
		}
		sym.SetThread(th)
		s.add(1, id, jvmthread.KindThreadStart, jvmthread.Event{}, "")
		if id != shopReport {
			s.add(2, id, jvmthread.KindPark, jvmthread.Event{Lock: s.tasks}, shopIdle)
		}
	}
	var out []ShopRequest
	var next [ShopThreads]jvmthread.Time
	for i := range next {
		next[i] = shopFirst + s.between(0, 5_000_000)
	}
	report := jvmthread.Time(3 * shopFirst)
	for len(out) < requests { // in the order in which they want the lock
		thread := 0
		for i := range next {
			if next[i] < next[thread] {
				thread = i
			}
		}
		if report < next[thread] {
			report = s.report(report) + s.between(60_000_000, 90_000_000)
			continue
		}
		r := s.request(jvmthread.ThreadID(thread+1), next[thread], len(out))
		next[thread] = r.To + s.between(1_000_000, 30_000_000)
		out = append(out, r)
	}
	slices.SortStableFunc(s.events, func(a, b jvmthread.Event) int { return cmp.Compare(a.Time, b.Time) })
	return s.events, out
}

func (s *shop) between(least, most int64) jvmthread.Time {
	return jvmthread.Time(least + s.rng.Int64N(most-least))
}

func (s *shop) add(at jvmthread.Time, id jvmthread.ThreadID, kind jvmthread.Kind, ev jvmthread.Event, stack string) {
	ev.Time, ev.Thread, ev.Kind = at, id, kind
	if stack != "" {
		ev.Stack = s.sym.InternStack(stack)
	}
	s.events = append(s.events, ev)
}

// report holds the lock from when it is free, and returns until when.
func (s *shop) report(at jvmthread.Time) jvmthread.Time {
	if s.free() > at {
		at = s.blocked(shopReport, at, "at com.acme.shop.Report.run(Report.java:9)\n").To
	}
	to := at + s.between(20_000_000, 40_000_000)
	s.holds = append(s.holds, jvmthread.Hold{Start: at, End: to, Thread: shopReport})
	s.asleep(shopReport, at+1000, to-1000, "at com.acme.shop.Report.write(Report.java:30)\nat com.acme.shop.Report.run(Report.java:9)\n")
	return to
}

// free returns when all that wanted the lock have had it.
func (s *shop) free() jvmthread.Time {
	if len(s.holds) == 0 {
		return 0
	}
	return s.holds[len(s.holds)-1].End
}

// blocked waits for the lock.
func (s *shop) blocked(id jvmthread.ThreadID, at jvmthread.Time, stack string) ShopWait {
	w := ShopWait{Thread: id, From: at, To: s.free(), Wait: jvmthread.WaitLock}
	var owner jvmthread.ThreadID
	var most jvmthread.Time
	for i := len(s.holds) - 1; i >= 0 && s.holds[i].End > at; i-- {
		owner = s.holds[i].Thread
		if held := s.holds[i].End - max(s.holds[i].Start, at); held >= most {
			most, w.Holder = held, owner
		}
	}
	s.add(at, id, jvmthread.KindContendedEnter, jvmthread.Event{Lock: s.lock, Peer: owner}, stack)
	s.add(w.To, id, jvmthread.KindContendedEntered, jvmthread.Event{Lock: s.lock}, "")
	return w
}

func (s *shop) asleep(id jvmthread.ThreadID, from, to jvmthread.Time, stack string) {
	s.add(from, id, jvmthread.KindSleepStart, jvmthread.Event{}, "at java.lang.Thread.sleep(Native Method)\n"+stack)
	s.add(to, id, jvmthread.KindSleepEnd, jvmthread.Event{}, "")
}

// request is one that wants the lock at a time.
func (s *shop) request(id jvmthread.ThreadID, at jvmthread.Time, number int) ShopRequest {
	route := s.rng.IntN(len(shopRoutes))
	r := ShopRequest{Name: shopRoutes[route], From: at - s.between(1_000, 400_000), Threads: []jvmthread.ThreadID{id}}
	binary.BigEndian.PutUint64(r.Span.TraceID[8:], uint64(number+1))
	binary.BigEndian.PutUint64(r.Span.SpanID[:], uint64(2*number+1))
	code := fmt.Sprintf("at com.acme.shop.Server.handle(Server.java:%d)\nat org.apache.tomcat.util.threads.TaskThread$WrappingRunnable.run(TaskThread.java:61)\n", 50+route)
	s.add(r.From-500, id, jvmthread.KindUnparked, jvmthread.Event{}, "")
	noted := false
	wait := func(w ShopWait) {
		if !noted {
			s.add(w.From, id, jvmthread.KindContext, jvmthread.Event{Span: r.Span}, "")
		}
		noted = true
		r.Waits = append(r.Waits, w)
	}
	if s.free() > at {
		s.add(at, id, jvmthread.KindContext, jvmthread.Event{Span: r.Span}, "")
		noted = true
		wait(s.blocked(id, at, "at com.acme.shop.Inventory.reserve(Inventory.java:42)\n"+code))
		at = s.free()
	}
	s.holds = append(s.holds, jvmthread.Hold{Start: at, Thread: id})
	at += s.between(20_000, 2_000_000)
	s.holds[len(s.holds)-1].End = at
	at += s.between(1_000, 100_000)
	to := at + s.between(500_000, 15_000_000)
	wait(ShopWait{id, at, to, jvmthread.WaitSleep, jvmthread.NoThread})
	s.asleep(id, at, to, "at com.acme.shop.Payment.call(Payment.java:71)\n"+code)
	at = to + s.between(1_000, 100_000)
	if route == len(shopRoutes)-1 {
		to = at + s.between(2_000_000, 20_000_000)
		wait(ShopWait{id, at, to, jvmthread.WaitFuture, jvmthread.NoThread})
		r.Waits = append(r.Waits, s.delegate(&r, id, at, to))
		r.Threads = append(r.Threads, id+ShopThreads)
		s.add(at, id, jvmthread.KindPark, jvmthread.Event{Lock: s.task}, parkFrames+"at java.util.concurrent.FutureTask.get(FutureTask.java:191)\nat com.acme.shop.Checkout.ship(Checkout.java:88)\n"+code)
		s.add(to, id, jvmthread.KindUnparked, jvmthread.Event{}, "")
		at = to
	}
	r.To = at + s.between(1_000, 300_000)
	end := jvmthread.Event{Span: jvmthread.SpanContext{SpanID: r.Span.SpanID}, Arg: int64(r.To - r.From)}
	end.Lock.Class = s.sym.InternClass(r.Name)
	s.add(r.To, id, jvmthread.KindRequestEnd, end, "")
	s.add(r.To, id, jvmthread.KindContext, jvmthread.Event{}, "")
	s.add(r.To+100, id, jvmthread.KindPark, jvmthread.Event{Lock: s.tasks}, shopIdle)
	return r
}

// delegate runs a task of a request on the worker of its thread. The worker sleeps in it.
func (s *shop) delegate(r *ShopRequest, id jvmthread.ThreadID, from, to jvmthread.Time) ShopWait {
	worker, span := id+ShopThreads, r.Span
	span.SpanID[7]++
	w := ShopWait{worker, from + 300_000, to - 300_000, jvmthread.WaitSleep, jvmthread.NoThread}
	s.add(from, id, jvmthread.KindUnpark, jvmthread.Event{Peer: worker}, "")
	s.add(from+100_000, worker, jvmthread.KindUnparked, jvmthread.Event{}, "")
	s.add(w.From, worker, jvmthread.KindContext, jvmthread.Event{Span: span}, "")
	s.asleep(worker, w.From, w.To, "at com.acme.shop.Shipping.quote(Shipping.java:12)\nat java.util.concurrent.FutureTask.run(FutureTask.java:264)\n")
	end := jvmthread.Event{Span: jvmthread.SpanContext{SpanID: span.SpanID}, Arg: int64(to - 1000 - (from + 150_000))}
	end.Lock.Class = s.sym.InternClass("Shipping.quote")
	s.add(to-1000, worker, jvmthread.KindUnpark, jvmthread.Event{Peer: id}, "")
	s.add(to-1000, worker, jvmthread.KindRequestEnd, end, "")
	s.add(to-1000, worker, jvmthread.KindContext, jvmthread.Event{}, "")
	s.add(to-500, worker, jvmthread.KindPark, jvmthread.Event{Lock: s.tasks}, shopIdle)
	return w
}
