// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// collected is what an incident collects until it is reported.
type collected struct {
	key        Awaited        // the root
	since      jvmthread.Time // when it began, or was cut
	reported   time.Duration  // of Blocked, that was reported when it was cut
	open       []Wait         // at the end of the last window, by thread
	waited     map[threadAt]waited
	more       int // threads that are not in it; Threads of a lock is the same until the incident is reported
	locks      map[Awaited]*Lock
	holders    map[threadAt]*Holder
	holds      []Hold // rather of the root
	activities activities
	did        reported
	unsaved    bool // some of the savings are not known
	again      bool // its deadlock was reported before
	taken      bool // by a group of the current window
}

// threadAt is a thread that waits for something or holds it.
type threadAt struct {
	thread jvmthread.ThreadID
	of     Awaited
}

func newIncident(id ID) *Incident {
	return &Incident{ID: id, End: id.Start, collected: collected{
		since: id.Start, waited: make(map[threadAt]waited), locks: make(map[Awaited]*Lock),
		holders: make(map[threadAt]*Holder), activities: make(activities),
	}}
}

// rest returns the incident that begins where this one is cut.
func (inc *Incident) rest() *Incident {
	id := ID{Start: inc.End, Rest: true}
	if len(inc.open) > 0 {
		id.First = inc.open[0].Interval.Thread
	}
	next := newIncident(id)
	next.Before, next.Cycle, next.key, next.Lock, next.Deadlock = inc.ID, inc.Cycle, inc.key, inc.Lock, inc.Deadlock
	next.again = inc.Cycle != 0
	next.open = slices.Clone(inc.open)
	for i := range next.open { // they count when time passes
		next.open[i].Start, next.open[i].End = inc.End, inc.End
	}
	return next
}

// copy returns an incident that has all of this one, which is cut, and continues.
func (inc *Incident) copy() *Incident {
	next := *inc
	next.Open, next.again, next.since, next.reported = false, inc.Cycle != 0, inc.End, inc.Blocked
	next.open, next.holds, next.Waits = slices.Clone(inc.open), slices.Clone(inc.holds), slices.Clone(inc.Waits)
	next.waited = maps.Clone(inc.waited)
	next.locks, next.holders, next.activities = copied(inc.locks), copied(inc.holders), copied(inc.activities)
	return &next
}

func copied[K comparable, V any](from map[K]*V) map[K]*V {
	out := make(map[K]*V, len(from))
	for k, v := range from {
		c := *v
		out[k] = &c
	}
	return out
}

// absorb adds another incident that is not over to this one, which began first.
func (inc *Incident) absorb(other *Incident) {
	inc.Blocked += other.Blocked
	inc.reported += other.reported
	inc.Count += other.Count
	inc.TimedOut += other.TimedOut
	inc.more += other.more
	inc.Saved += other.Saved
	inc.unsaved = inc.unsaved || other.unsaved || inc.key != other.key
	inc.open = append(inc.open, other.open...)
	inc.sortOpen()
	for at, sum := range other.waited {
		inc.addWaited(at, sum)
	}
	if inc.Cycle == 0 {
		inc.deadlocked(other.Cycle)
	}
	for id, l := range other.locks {
		inc.lock(id).add(l)
		if inc.Cycle == other.Cycle {
			inc.locks[id].asRoot += l.asRoot
		}
	}
	inc.choose()
	for at, h := range other.holders {
		inc.holder(at).add(h.Blocked, h.Held)
	}
	for i := range other.holds {
		inc.keepHold(&other.holds[i])
	}
	for a, sum := range other.activities {
		inc.activities.add(a, sum.blocked, sum.most, &sum.hold)
	}
	inc.Longest = max(inc.Longest, other.Longest)
	for i := range other.Waits {
		inc.addWait(&other.Waits[i])
	}
}

func (inc *Incident) sortOpen() {
	slices.SortFunc(inc.open, func(a, b Wait) int { return cmp.Compare(a.Interval.Thread, b.Interval.Thread) })
}

func (inc *Incident) lock(id Awaited) *Lock {
	l := inc.locks[id]
	if l == nil {
		l = &Lock{ID: id}
		inc.locks[id] = l
	}
	return l
}

func (l *Lock) add(other *Lock) {
	l.Time += other.Time
	l.Threads += other.Threads
	if other.longest > l.longest {
		l.longest, l.Kind, l.Stack, l.Thread = other.longest, other.Kind, other.Stack, other.Thread
	}
}

// collect adds a group of the window to an incident.
func (f *Finder) collect(w *window.Window, g *group, inc *Incident) {
	before := inc.open
	inc.open = nil
	inc.End = max(inc.End, g.end)
	if g.cycle != 0 {
		inc.deadlocked(g.cycle)
		if d, ok := f.deadlocks[g.cycle]; ok {
			inc.Deadlock = &d
		}
	}
	root := f.episodes.awaited[f.episodes.list[g.root].lock]
	for n := g.head; n >= 0; n = f.episodes.list[n].next {
		ep := &f.episodes.list[n]
		l := inc.lock(f.episodes.awaited[ep.lock])
		l.Time += time.Duration(ep.time)
		inc.Blocked += time.Duration(ep.time)
		if l.ID.Kind == AwaitedPool && ep.carried {
			for id := range f.episodes.objects(w, ep) {
				inc.become(id, l.ID)
			}
		}
		for _, i := range f.episodes.order[ep.first : ep.last+1] {
			f.wait(w, &f.episodes.waits[i], l, before, inc)
		}
		if inc.Cycle != 0 && ep.cycle == inc.Cycle || inc.Cycle == 0 && l.ID == root {
			l.asRoot += time.Duration(ep.time)
		}
	}
	inc.choose()
	f.holds(w, g, inc, g.open || len(before) > 0)
	for i := range before { // the others continue in another incident
		if rec := &before[i]; rec.End != jvmthread.NoTime && rec.End > rec.Start {
			inc.addWait(rec)
		}
	}
	inc.sortOpen()
	for i := range inc.Waits {
		inc.Waits[i].fill(w)
	}
	if g.open { // the only window in which this is known, if the incident is cut
		for i := range inc.open {
			inc.open[i].fill(w)
		}
	}
	f.saved(w, g, inc)
}

// saved adds what the window's what-if says.
func (f *Finder) saved(w *window.Window, g *group, inc *Incident) {
	v := w.Verdict
	at := slices.IndexFunc(w.Locks, func(l window.LockStats) bool { return l.Class == inc.key.Lock.Class })
	if v == nil || !v.WhatIf || at < 0 || inc.Cycle != 0 || inc.key.Kind == AwaitedCarriers || inc.key.Kind == AwaitedPool {
		inc.unsaved = true
		return
	}
	var mine jvmthread.Time // of the class, in this window
	for n := g.head; n >= 0; n = f.episodes.list[n].next {
		if ep := &f.episodes.list[n]; f.episodes.awaited[ep.lock].Lock.Class == inc.key.Lock.Class {
			mine += ep.time
		}
	}
	saving := v.Saving(inc.key.Lock.Class)
	if saving.Unknown || w.Locks[at].Blocked != time.Duration(mine) {
		inc.unsaved = true
		return
	}
	inc.Saved += time.Duration(saving.Drag)
}

// finish sorts what was collected, and lets go of the rest.
func (inc *Incident) finish() {
	for i := range inc.open {
		inc.addWait(&inc.open[i])
	}
	slices.SortFunc(inc.Waits, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(b.End-b.Start, a.End-a.Start), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Interval.Thread, b.Interval.Thread))
	})
	threads := make(map[jvmthread.ThreadID]bool)
	for at := range inc.waited {
		threads[at.thread] = true
		inc.lock(at.of).Threads++
	}
	inc.Threads = len(threads) + inc.more
	for _, l := range inc.locks {
		inc.Locks = append(inc.Locks, *l)
	}
	slices.SortFunc(inc.Locks, func(a, b Lock) int { return cmp.Or(cmp.Compare(b.Time, a.Time), a.ID.compare(&b.ID)) })
	inc.finishHolds()
	inc.finishActivities()
	inc.SavedKnown = !inc.unsaved
	switch {
	case inc.Cycle != 0:
		inc.Kind = Deadlock
	case inc.Root().Kind == jvmthread.WaitPool:
		inc.Kind = PoolExhausted
	case inc.Root().Kind == jvmthread.WaitCarrier:
		inc.Kind = CarriersStarved
	}
	if inc.Cycle == 0 && inc.key.Lock.Class != jvmthread.NoClass {
		inc.Lock = inc.key.Lock
	}
	inc.locks, inc.holders, inc.holds, inc.open, inc.activities = nil, nil, nil, nil, nil
}
