// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/incidents"
	"github.com/weft-otel/weft/internal/threadview/store"
)

const pace = 50_000 // nanoseconds on the page per unit of time in the simulation

var classes = []string{
	"com.acme.exchange.OrderBook", "com.acme.exchange.Account", "java.util.concurrent.locks.ReentrantLock$NonfairSync", "java.lang.Thread",
}

// player plays simulated events into a session of a store.
type player struct {
	session *store.Session
	worst   *incidents.Keeper
	engine  *drive.Session
	symbols *symbols.Table
	stacks  map[[2]uint32]jvmthread.StackID
	start   jvmthread.Time
}

func newPlayer(st *store.Store, number uint64, service string, start time.Time) *player {
	id := jvmthread.SessionID{0: 0xa0}
	binary.BigEndian.PutUint64(id[8:], number)
	cfg := engine.DefaultConfig()
	cfg.Window = time.Second
	sym := symbols.New(symbols.DefaultLimits())
	p := &player{
		engine: drive.New(cfg, sym), symbols: sym, stacks: map[[2]uint32]jvmthread.StackID{},
		start: jvmthread.Time(start.UnixNano()),
		session: st.Open(id, store.Meta{
			"service.name": service, "host.name": "dev", "process.pid": strconv.FormatUint(1000+number, 10), "process.runtime.name": "OpenJDK Runtime Environment",
			"process.runtime.version": "17.0.12", "process.command_line": "java -jar " + service + ".jar",
		}),
	}
	p.worst = incidents.New(id, p.session, sym, p.engine.Waits())
	p.engine.FindLostNotifies()
	p.engine.Watch(func(events []jvmthread.Event) { p.session.Events(events, p.symbols) })
	for _, c := range classes {
		p.symbols.InternClass(c)
	}
	return p
}

// play plays events, whose times are relative to the start.
func (p *player) play(events []jvmthread.Event) {
	const most = 4096
	for len(events) > 0 {
		n := min(most, len(events))
		dressed := make([]jvmthread.Event, n)
		for i, ev := range events[:n] {
			p.symbols.SetThread(thread(ev.Thread))
			dressed[i] = p.dress(ev)
		}
		p.engine.Batch(dressed, 0, dressed[n-1].Time, p.window)
		events = events[n:]
	}
}

func (p *player) window(w *window.Window) {
	p.session.Append(w, p.symbols)
	p.worst.Window(w)
}

func (p *player) end(why window.Cut) {
	p.engine.Close(jvmthread.NoTime, why, p.window)
	p.session.Close(why)
}

func thread(id jvmthread.ThreadID) jvmthread.Thread {
	th := jvmthread.Thread{ID: id, Group: "main", Name: fmt.Sprintf("http-nio-8080-exec-%d", id)}
	switch {
	case id == 1:
		th.Name = "main"
	case id%7 == 3:
		th.Name, th.Group, th.Daemon = fmt.Sprintf("pool-1-thread-%d", id), "workers", true
	case id%13 == 5:
		th.Name = fmt.Sprintf("<img src=x onerror=alert(%d)>", id)
	}
	return th
}

// dress sets the absolute time, class and stack of an event.
func (p *player) dress(ev jvmthread.Event) jvmthread.Event {
	ev.Time = ev.Time*pace + p.start
	ev.Arg *= pace
	ev.Lock.Class = min(ev.Lock.Class, jvmthread.ClassID(len(classes)))
	switch ev.Kind {
	case jvmthread.KindContendedEnter, jvmthread.KindWait, jvmthread.KindSleepStart, jvmthread.KindPark, jvmthread.KindJoinStart,
		jvmthread.KindNotify, jvmthread.KindNotifyAll, jvmthread.KindStartCalled, jvmthread.KindUnpark, jvmthread.KindInterruptCalled:
		ev.Stack = p.stack(ev)
	}
	return ev
}

func (p *player) stack(ev jvmthread.Event) jvmthread.StackID {
	k := [2]uint32{uint32(ev.Kind)<<8 | uint32(ev.Lock.Class), uint32(ev.Thread % 3)}
	id, ok := p.stacks[k]
	if !ok {
		class, method := "com.acme.exchange.Matcher", []string{"match", "settle", "cancel"}[k[1]]
		head := ""
		switch ev.Kind {
		case jvmthread.KindWait:
			head = "at java.lang.Object.wait(Native Method)\n"
		case jvmthread.KindSleepStart:
			head = "at java.lang.Thread.sleep(Native Method)\n"
		case jvmthread.KindJoinStart:
			head = "at java.lang.Object.wait(Native Method)\nat java.lang.Thread.join(Thread.java:1304)\n"
		case jvmthread.KindPark:
			head = "at jdk.internal.misc.Unsafe.park(Native Method)\nat java.util.concurrent.locks.LockSupport.park(LockSupport.java:211)\n"
		}
		id = p.symbols.InternStack(head + fmt.Sprintf("at %s.%s(Matcher.java:%d)\nat com.acme.exchange.Server.run(Server.java:%d)\nat java.lang.Thread.run(Thread.java:840)\n",
			class, method, 40+10*k[1]+k[0]%10, 100+k[1]))
		p.stacks[k] = id
	}
	return id
}

// short adds a small finished session; each starts an hour before the previous one.
func short(st *store.Store, i int) {
	p := newPlayer(st, 1000+uint64(i), fmt.Sprintf("job-%d", i), time.Now().Add(-time.Duration(i+2)*time.Hour))
	p.play(threadtest.Simulate(uint64(i), 4, 2, 50).Events)
	p.end(window.CutEnd)
}

func finished(st *store.Store, number uint64, service string) {
	sim := threadtest.Simulate(number, 24, 5, 40_000)
	p := newPlayer(st, number, service, time.Now().Add(-time.Hour))
	p.play(sim.Events)
	p.end(window.CutEnd)
}

// big adds a session of a given size with 500 threads; an interval lasts 100 µs on average.
func big(st *store.Store, intervals int) {
	p := newPlayer(st, 3, "big", time.Now().Add(-2*time.Hour))
	const threads = 500
	rng := rand.New(rand.NewPCG(1, 2))
	var events []jvmthread.Event
	at := jvmthread.Time(1)
	for id := range threads {
		events = append(events, jvmthread.Event{Time: at, Thread: jvmthread.ThreadID(id + 1), Kind: jvmthread.KindThreadStart})
	}
	for n := 0; n < intervals; n += 2 * threads {
		owner := 1 + jvmthread.ThreadID(rng.IntN(threads))
		for id := range jvmthread.ThreadID(threads) {
			at += 1 + jvmthread.Time(rng.IntN(4))
			lock := jvmthread.LockID{Class: 1 + jvmthread.ClassID(id%3), Hash: uint32(id % 40)}
			if id+1 != owner {
				events = append(events, jvmthread.Event{Time: at, Thread: id + 1, Kind: jvmthread.KindContendedEnter, Lock: lock, Peer: owner})
			}
		}
		for id := range jvmthread.ThreadID(threads) {
			at += 1 + jvmthread.Time(rng.IntN(4))
			lock := jvmthread.LockID{Class: 1 + jvmthread.ClassID(id%3), Hash: uint32(id % 40)}
			if id+1 != owner {
				events = append(events, jvmthread.Event{Time: at, Thread: id + 1, Kind: jvmthread.KindContendedEntered, Lock: lock})
			}
		}
		if len(events) > 1<<16 {
			p.play(events)
			events = events[:0]
		}
	}
	p.play(events)
	p.end(window.CutEnd)
}

// live plays a session in real time until the server stops.
func live(ctx context.Context, st *store.Store) {
	sim := threadtest.Simulate(7, 16, 4, 4_000_000)
	p := newPlayer(st, 2, "live", time.Now())
	begun := time.Now()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	events := sim.Events
	for len(events) > 0 {
		until := jvmthread.Time(time.Since(begun)) / pace
		n := 0
		for n < len(events) && events[n].Time < until {
			n++
		}
		p.play(events[:n])
		events = events[n:]
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
	p.end(window.CutEnd)
}

// recurring plays a session in real time in which two threads wait for a lock twice a second.
func recurring(ctx context.Context, st *store.Store) {
	p := newPlayer(st, 10, "recurring", time.Now())
	for id := range jvmthread.ThreadID(3) {
		p.symbols.SetThread(thread(id + 1))
	}
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	book := jvmthread.LockID{Class: 1, Hash: 1}
	for at := jvmthread.Time(1); ; at += jvmthread.Time(500 * time.Millisecond) {
		select {
		case <-ctx.Done():
			p.end(window.CutShutdown)
			return
		case <-ticker.C:
		}
		const ms = jvmthread.Time(time.Millisecond)
		p.record([]jvmthread.Event{
			{Time: at, Thread: 1, Kind: jvmthread.KindSleepStart},
			{Time: at + ms, Thread: 2, Kind: jvmthread.KindContendedEnter, Lock: book, Peer: 1},
			{Time: at + 2*ms, Thread: 3, Kind: jvmthread.KindContendedEnter, Lock: book, Peer: 1},
			{Time: at + 90*ms, Thread: 1, Kind: jvmthread.KindSleepEnd},
			{Time: at + 91*ms, Thread: 2, Kind: jvmthread.KindContendedEntered, Lock: book},
			{Time: at + 92*ms, Thread: 3, Kind: jvmthread.KindContendedEntered, Lock: book},
		})
	}
}

// locks adds a session of a program with locks of java.util.concurrent and a pool.
func locks(st *store.Store) {
	p := newPlayer(st, 5, "report-and-matchers", time.Now().Add(-30*time.Minute))
	p.record(threadtest.ReportAndMatchers(p.symbols))
	p.end(window.CutEnd)
}

// requests adds a session of a program that reports its spans.
func requests(st *store.Store) {
	p := newPlayer(st, 9, "shop", time.Now().Add(-15*time.Minute))
	events, _ := threadtest.Shop(p.symbols, 1, 600)
	p.record(events)
	p.end(window.CutEnd)
}

// manyStacks adds a session that waits at many stacks.
func manyStacks(st *store.Store, stacks int) {
	p := newPlayer(st, 8, "many-stacks", time.Now().Add(-25*time.Minute))
	p.record(threadtest.ManyStacks(p.symbols, stacks))
	p.end(window.CutEnd)
}

// service adds a session of a web application with pools of threads.
func service(st *store.Store, threads, rounds int) {
	p := newPlayer(st, 11, "service", time.Now().Add(-15*time.Minute))
	p.record(threadtest.Service(p.symbols, threadtest.ServiceSize{Threads: max(threads, 40), Rounds: rounds}))
	p.end(window.CutLost)
}

// crowd adds a session with many virtual threads.
func crowd(st *store.Store, number uint64, service string, threads int, short bool) {
	p := newPlayer(st, number, service, time.Now().Add(-20*time.Minute))
	p.record(threadtest.VirtualThreads(p.symbols, threads, short))
	p.end(window.CutLost)
}

// record plays events that are complete, and whose times are nanoseconds from the start.
func (p *player) record(events []jvmthread.Event) {
	for i := range events {
		events[i].Time += p.start
	}
	for len(events) > 0 {
		part := events[:min(1<<16, len(events))]
		events = events[len(part):]
		complete := part[len(part)-1].Time
		if len(events) == 0 {
			complete++
		}
		p.engine.Batch(part, 0, complete, p.window)
	}
}

// deadlocked adds a session in which two threads wait for each other, and a third for one of them.
func deadlocked(st *store.Store) {
	p := newPlayer(st, 4, "deadlocked", time.Now().Add(-10*time.Minute))
	left, right := jvmthread.LockID{Class: 2, Hash: 0x1a}, jvmthread.LockID{Class: 2, Hash: 0x2b}
	const ms = jvmthread.Time(time.Millisecond) / pace
	ev := func(at jvmthread.Time, th jvmthread.ThreadID, k jvmthread.Kind, l jvmthread.LockID, peer jvmthread.ThreadID) jvmthread.Event {
		return jvmthread.Event{Time: at * ms, Thread: th, Kind: k, Lock: l, Peer: peer}
	}
	p.play([]jvmthread.Event{
		ev(1, 1, jvmthread.KindThreadStart, jvmthread.NoLock, 0),
		ev(2, 2, jvmthread.KindThreadStart, jvmthread.NoLock, 0),
		ev(3, 4, jvmthread.KindThreadStart, jvmthread.NoLock, 0),
		ev(100, 1, jvmthread.KindContendedEnter, left, 2),
		ev(120, 2, jvmthread.KindContendedEnter, right, 1),
		ev(2000, 4, jvmthread.KindContendedEnter, right, 1),
		{Time: 2500 * ms, Thread: 5, Kind: jvmthread.KindThreadStart},
		{Time: 2600 * ms, Thread: 5, Kind: jvmthread.KindGap, Arg: 12},
		{Time: 5000 * ms, Thread: 5, Kind: jvmthread.KindThreadEnd},
	})
	p.end(window.CutLost)
}
