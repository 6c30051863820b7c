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

// What is known by construction of VirtualThreads.
const (
	CrowdPlatform = 20   // platform threads; the first four are carriers
	CrowdFirst    = 1000 // ID of the first virtual thread
	CrowdOrders   = "com.acme.shop.Orders.submit"
	CrowdPrices   = "com.acme.shop.Prices.refresh"
	CrowdNamed    = "session-*"
)

const (
	crowdCarriers = 4
	crowdStarts   = "at java.lang.VirtualThread.start(VirtualThread.java:686)\nat java.lang.Thread.startVirtualThread(Thread.java:1554)\n"
	crowdLock     = "at java.lang.VirtualThread.park(VirtualThread.java:738)\nat java.util.concurrent.locks.LockSupport.park(LockSupport.java:223)\n" +
		"at java.util.concurrent.locks.ReentrantLock.lock(ReentrantLock.java:322)\n" +
		"at com.acme.shop.Stock.reserve(Stock.java:42)\n- lock Stock.lock\nat com.acme.shop.Order.run(Order.java:17)\n"
	crowdQueue = "at java.lang.VirtualThread.park(VirtualThread.java:738)\nat java.util.concurrent.locks.LockSupport.park(LockSupport.java:223)\n" +
		"at java.util.concurrent.LinkedBlockingQueue.take(LinkedBlockingQueue.java:433)\nat com.acme.shop.Price.run(Price.java:9)\n"
)

// CrowdGroup returns the name of the group of the virtual thread at an index: of ten, six were started by orders and three by prices; of
// twenty, one has no known start but a name, and one neither.
func CrowdGroup(i int) string {
	switch {
	case i%10 < 6:
		return CrowdOrders
	case i%10 < 9:
		return CrowdPrices
	case i%20 == 9:
		return CrowdNamed
	}
	return "virtual threads"
}

// VirtualThreads returns the history of a program with n virtual threads, in nanoseconds from a start: of short ones, of which 5,000 start in each
// second and about a hundred live at any time, or of ones that start within two seconds and then wait until the end of the tenth.
func VirtualThreads(sym *symbols.Table, n int, short bool) []jvmthread.Event {
	c := &crowd{sym: sym, short: short, step: 200_000}
	if !short {
		c.step = max(1, 2_000_000_000/int64(n))
	}
	c.lock = jvmthread.LockID{Class: sym.InternClass("java.util.concurrent.locks.ReentrantLock$NonfairSync"), Hash: 0x570c}
	c.queue = jvmthread.LockID{Class: sym.InternClass("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"), Hash: 0x9c1ce}
	for _, stack := range []string{
		crowdStarts + "at " + CrowdOrders + "(Orders.java:12)\n", crowdStarts + "at " + CrowdPrices + "(Prices.java:30)\n", crowdLock, crowdQueue,
	} {
		c.stacks = append(c.stacks, sym.InternStack(stack))
	}
	for i := range CrowdPlatform {
		th := jvmthread.Thread{ID: jvmthread.ThreadID(i + 1), Name: fmt.Sprintf("http-nio-8080-exec-%d", i+1-crowdCarriers), Group: "main"}
		if i < crowdCarriers {
			th.Name, th.Group, th.Daemon, th.Carrier = fmt.Sprintf("ForkJoinPool-1-worker-%d", i+1), "CarrierThreads", true, true
		}
		sym.SetThread(th)
		c.add(0, th.ID, jvmthread.Event{Kind: jvmthread.KindThreadStart})
	}
	for i := range n {
		c.virtual(i)
	}
	if !short {
		c.add(10_000_000_000, crowdCarriers+1, jvmthread.Event{Kind: jvmthread.KindYield})
	}
	slices.SortStableFunc(c.events, func(a, b jvmthread.Event) int { return cmp.Compare(a.Time, b.Time) })
	return c.events
}

// crowd makes the history.
type crowd struct {
	sym         *symbols.Table
	short       bool
	step        int64 // between two starts
	lock, queue jvmthread.LockID
	stacks      []jvmthread.StackID // starts of orders and of prices, waits for the lock and for the queue
	events      []jvmthread.Event
}

func (c *crowd) add(at int64, thread jvmthread.ThreadID, ev jvmthread.Event) {
	ev.Time, ev.Thread = jvmthread.Time(at+1_000_000), thread
	c.events = append(c.events, ev)
}

// virtual adds the life of a virtual thread: it is started, waits for a carrier, runs, waits, waits for a carrier again, runs and ends.
func (c *crowd) virtual(i int) {
	const us = 1000
	const virtual = jvmthread.FlagVirtual
	id, carrier := jvmthread.ThreadID(CrowdFirst+i), jvmthread.ThreadID(1+i%crowdCarriers)
	exec := jvmthread.ThreadID(1 + crowdCarriers + i%(CrowdPlatform-crowdCarriers))
	th := jvmthread.Thread{ID: id, Virtual: true, Daemon: true, Group: "VirtualThreads"}
	if i%10 >= 6 && i%20 != 19 {
		th.Name = fmt.Sprintf("session-%d", i)
	}
	c.sym.SetThread(th)
	at := int64(i) * c.step
	wait := jvmthread.Event{Kind: jvmthread.KindPark, Flags: virtual, Lock: c.lock, Peer: exec, Stack: c.stacks[2]}
	if i%10 >= 6 {
		wait.Lock, wait.Peer, wait.Stack = c.queue, jvmthread.NoThread, c.stacks[3]
	}
	started := i%10 < 9
	if started {
		c.add(at, exec, jvmthread.Event{Kind: jvmthread.KindStartCalled, Flags: jvmthread.FlagVirtualPeer, Peer: id, Stack: c.stacks[min(1, i%10/6)]})
		at += int64(50+i*7919%400) * us
		c.add(at, id, jvmthread.Event{Kind: jvmthread.KindMount, Flags: virtual, Peer: carrier})
	}
	c.add(at, id, jvmthread.Event{Kind: jvmthread.KindThreadStart, Flags: virtual})
	at += 100 * us
	c.add(at, id, wait)
	if started {
		c.add(at+us, id, jvmthread.Event{Kind: jvmthread.KindUnmount, Flags: virtual, Peer: carrier})
	}
	if !c.short {
		return
	}
	at += int64(1000+i*104729%40_000) * us
	if started {
		c.add(at, exec, jvmthread.Event{Kind: jvmthread.KindUnpark, Flags: jvmthread.FlagVirtualPeer, Peer: id})
		at += int64(20+i*6007%200) * us
		c.add(at, id, jvmthread.Event{Kind: jvmthread.KindMount, Flags: virtual, Peer: carrier})
	}
	c.add(at, id, jvmthread.Event{Kind: jvmthread.KindUnparked, Flags: virtual})
	c.add(at+50*us, id, jvmthread.Event{Kind: jvmthread.KindThreadEnd, Flags: virtual})
}
