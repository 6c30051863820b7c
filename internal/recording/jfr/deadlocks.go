// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// deadlocked is a thread in a deadlock that Datadog's tracer found: its event datadog.DeadlockedThread, which comes about once a minute.
type deadlocked struct {
	first, last jvmthread.Time
	name        string
	lock        string // java.lang.Object@1b2c3d
	owner       int64
	ownerName   string
	frame       string // in which others wait for the thread: com.acme.Shop.buy#42
}

// deadlockText is the event in a chunk.
type deadlockText struct {
	ticks, thread, owner         int64
	name, lock, ownerName, frame text
}

// maxDeadlocked bounds the threads in deadlocks.
const maxDeadlocked = 1 << 10

// seeDeadlocks adds the deadlocks of a chunk.
func (r *run) seeDeadlocks(c *chunk) {
	if r.deadlocks == nil {
		r.deadlocks = make(map[jvmthread.ThreadID]*deadlocked)
	}
	for i := range c.about.deadlocks {
		of := &c.about.deadlocks[i]
		at, id := jvmthread.Time(c.clock.at(of.ticks)), jvmthread.ThreadID(of.thread)
		lock := c.pools.text(of.lock)
		th := r.deadlocks[id]
		if th == nil || th.lock != lock {
			if of.thread <= 0 || len(r.deadlocks) >= maxDeadlocked {
				continue
			}
			th = &deadlocked{
				first: at, last: at, name: c.pools.text(of.name), lock: lock, owner: of.owner, ownerName: c.pools.text(of.ownerName),
				frame: c.pools.text(of.frame),
			}
			r.deadlocks[id] = th
		}
		th.first, th.last = min(th.first, at), max(th.last, at)
	}
}

// lockUp adds the waits of threads in deadlocks, which have no events because they do not end. When they began is known to a minute only: they
// are taken to begin when they were found. A dump that shows the same is more exact.
func (d *Decoder) lockUp(r *run) {
	s := shown{waits: make(map[jvmthread.ThreadID]jvmthread.Event)}
	var late []jvmthread.ThreadID
	for _, id := range slices.Sorted(maps.Keys(r.deadlocks)) {
		th := r.deadlocks[id]
		since, did := th.first, jvmthread.Time(math.MinInt64)
		if last := r.ends.threads[id]; last != nil && last.own > math.MinInt64 {
			did = max(last.own, last.heard)
		} else if last != nil {
			since = max(since, last.heard)
		}
		ev := jvmthread.Event{Kind: jvmthread.KindContendedEnter, Thread: id, Time: max(since, did), Flags: jvmthread.FlagSnapshot}
		if _, known := d.splitter.open[id]; known || ev.Time > th.last {
			continue
		}
		class, hash, _ := strings.Cut(th.lock, "@")
		if strings.HasPrefix(class, "java.util.concurrent.locks.") {
			ev.Kind = jvmthread.KindPark
		}
		n, _ := strconv.ParseUint(hash, 16, 32)
		ev.Lock = jvmthread.LockID{Class: d.Options.Symbols.InternClass(class), Hash: uint32(n)}
		ev.Stack = d.frame(r.deadlocks[jvmthread.ThreadID(th.owner)])
		d.discover(id, th.name)
		if th.owner > 0 {
			ev.Peer = jvmthread.ThreadID(th.owner)
			d.discover(ev.Peer, th.ownerName)
		}
		s.waits[id] = ev
		if did < since { // else it follows the thread's last event
			late = append(late, id)
		}
	}
	s.find(r.ends.locks)
	maps.Copy(d.splitter.open, s.waits)
	for _, id := range late {
		d.splitter.late = append(d.splitter.late, s.waits[id])
	}
	slices.SortStableFunc(d.splitter.late, func(a, b jvmthread.Event) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Thread, b.Thread))
	})
}

// discover defines a thread that has no events of its own.
func (d *Decoder) discover(id jvmthread.ThreadID, name string) {
	if d.Options.Symbols.Thread(id).Name == "" {
		d.define(jvmthread.Thread{ID: id, Name: name})
	}
}

// frame returns the stack of those that wait for a thread, as far as it is known.
func (d *Decoder) frame(owner *deadlocked) jvmthread.StackID {
	if owner == nil || owner.frame == "" {
		return jvmthread.NoStack
	}
	function, number, _ := strings.Cut(owner.frame, "#")
	line, _ := strconv.Atoi(number)
	var b symbols.StackBuilder
	b.Begin()
	b.Add(function, "", max(0, line))
	return d.Options.Symbols.InternStack(b.End(true))
}
