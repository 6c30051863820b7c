// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// addLock adds what a window says of a class, and returns that.
func (c *collection) addLock(attrs pcommon.Map) Lock {
	lock := Lock{
		Class:       text(attrs, "weft.lock.class"),
		Contentions: number(attrs, "weft.lock.contentions"),
		Handoffs:    number(attrs, "weft.lock.handoffs"),
		Blocked:     duration(attrs, "weft.lock.blocked.time"),
		BlockedMax:  duration(attrs, "weft.lock.blocked.max"),
		Waiters:     number(attrs, "weft.lock.waiters"),
		Holds:       number(attrs, "weft.lock.holds"),
		Held:        duration(attrs, "weft.lock.held.time"),
		HeldMax:     duration(attrs, "weft.lock.held.max"),
		Waits:       number(attrs, "weft.lock.waits"),
		Waited:      duration(attrs, "weft.lock.waited.time"),
	}
	c.lock(lock.Class).add(lock)
	return lock
}

func (c *collection) lock(class string) *Lock {
	lock := c.locks[class]
	if lock == nil {
		lock = &Lock{Class: class}
		c.locks[class] = lock
	}
	return lock
}

// addDeadlock adds one that is not known yet.
func (c *collection) addDeadlock(root ptrace.Span, attrs pcommon.Map, service string) {
	d := Deadlock{
		ID:      text(attrs, "weft.deadlock.id"),
		Threads: text(attrs, "weft.deadlock.threads"),
		Since:   time.Unix(0, number(attrs, "weft.deadlock.since")).UTC(),
		Service: service,
		TraceID: root.TraceID().String(),
	}
	if !slices.ContainsFunc(c.sum.Deadlocks, func(known Deadlock) bool { return known.ID == d.ID }) {
		c.sum.Deadlocks = append(c.sum.Deadlocks, d)
	}
}

func (c *collection) addChain(root ptrace.Span, attrs pcommon.Map, service string) {
	chain := Chain{
		Class:   text(attrs, "weft.lock.class"),
		Length:  number(attrs, "weft.lock.chain.length"),
		Time:    duration(attrs, "weft.lock.chain.time"),
		Threads: text(attrs, "weft.lock.chain.threads"),
		Service: service,
		At:      root.StartTimestamp().AsTime(),
		TraceID: root.TraceID().String(),
	}
	if chain.Length > 0 && (c.sum.Chain == nil || longer(chain, *c.sum.Chain)) {
		c.sum.Chain = &chain
	}
}

// longer orders chains, also those of equal length and time, so that the order of lines does not matter.
func longer(a, b Chain) bool {
	return cmp.Or(cmp.Compare(a.Length, b.Length), cmp.Compare(a.Time, b.Time), b.At.Compare(a.At), cmp.Compare(b.Class, a.Class)) > 0
}

func (c *collection) addThread(attrs pcommon.Map, service, session string) {
	key := threadKey{session, text(attrs, "thread.name")}
	thread := c.threads[key]
	if thread == nil {
		thread = &Thread{Name: key.name, Service: service}
		c.threads[key] = thread
		c.ids[key] = map[int64]struct{}{}
	}
	c.ids[key][number(attrs, "thread.id")] = struct{}{}
	thread.Blocks += number(attrs, "weft.count.blocked")
	thread.Blocked += duration(attrs, "weft.time.blocked") + duration(attrs, "weft.time.deadlocked")
	thread.Waits += number(attrs, "weft.count.waiting")
	thread.Waited += duration(attrs, "weft.time.waiting")
	for _, state := range states {
		thread.Time += duration(attrs, "weft.time."+state)
	}
	c.sum.FoldedCount += number(attrs, "weft.folded.count")
	c.sum.FoldedTime += duration(attrs, "weft.folded.time")
}
