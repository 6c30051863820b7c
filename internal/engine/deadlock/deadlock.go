// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package deadlock finds threads that wait for each other in a cycle. It looks for a cycle each time a thread begins to wait for an owner:
// of a monitor, or of a java.util.concurrent synchronizer that knows its owner. Both may occur in one cycle.
//
// The owners that JVMTI reports lag behind by the time a woken thread takes to report that it got its lock. So a cycle may seem to close
// although one of its locks was just released. It is therefore only suspected at first, and confirmed when all its threads are still in
// the same interval after Grace; the deadlock then begins when the cycle closed. A real deadlock does not end by itself, so waiting misses
// none.
//
// It also reports potential deadlocks: two locks that threads take in both orders, under contention.
package deadlock

import (
	"slices"

	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Grace is how long, in the time of events, all threads of a cycle must not have moved, unless SetGrace changes it.
const Grace jvmthread.Time = 1_000_000_000

// maxCycle bounds the search at each event that begins a wait. Longer cycles are not found, but counted.
const maxCycle = 256

// maxSuspects bounds the cycles to be confirmed.
const maxSuspects = 1024

// Found is a deadlock: its threads in the order in which each waits for the next, the smallest id first.
type Found struct {
	Cycle   jvmthread.Cycle
	Since   jvmthread.Time // when the cycle closed
	Window  jvmthread.Time // start of the window in which it was confirmed
	Members []jvmthread.IntervalRef
	Waits   []jvmthread.Interval // of the members when it was confirmed
}

// Counters count what was left out because of limits.
type Counters struct {
	SearchesCut uint64 // chains of owners longer than the search goes
	Overflow    uint64 // cycles over the limit of suspected or of current deadlocks

	OrdersForgotten uint64 // times that all lock orders were dropped because there were too many
}

// Detector looks for deadlocks in one session. One goroutine owns it.
type Detector struct {
	timeline *timeline.Timeline
	binder   *interaction.Binder
	waits    *waits.Classifier // may be nil
	grace    jvmthread.Time
	suspects []Found
	standing []Found
	fresh    []Found // confirmed, not taken yet
	last     jvmthread.Cycle
	chain    []jvmthread.IntervalRef
	orders   orders
	counters Counters
}

// New returns a Detector that reads the states of threads and the owners of locks. The classifier knows which locks have only one owner; nil:
// monitors.
func New(tl *timeline.Timeline, b *interaction.Binder, classifier *waits.Classifier) *Detector {
	return &Detector{timeline: tl, binder: b, waits: classifier, grace: Grace, orders: orders{seen: make(map[pair]sighting)}}
}

// SetGrace sets how long threads of a cycle must not have moved: less where owners are exact.
func (d *Detector) SetGrace(grace jvmthread.Time) { d.grace = grace }

// Counters returns the counts so far.
func (d *Detector) Counters() Counters { return d.counters }

// Apply applies an event that the timeline and the binder have applied.
func (d *Detector) Apply(ev *jvmthread.Event) {
	if ev.Kind != jvmthread.KindContendedEnter && (ev.Kind != jvmthread.KindPark || ev.Peer == jvmthread.NoThread) {
		return
	}
	d.order(ev)
	d.chain = d.chain[:0]
	known := ev.Thread // updated after 1, 2, 4, 8, … steps, to notice a cycle of other threads (Brent, 1980)
	for id := ev.Thread; ; {
		ref, next := d.waitsFor(id)
		if next == jvmthread.NoThread {
			return
		}
		d.chain = append(d.chain, ref)
		if next == ev.Thread {
			d.suspect(ev.Time)
			return
		}
		if next == known {
			return
		}
		if n := len(d.chain); n&(n-1) == 0 {
			known = next
		}
		if len(d.chain) >= maxCycle {
			d.counters.SearchesCut++
			return
		}
		id = next
	}
}

// waitsFor returns the current interval of a thread and the owner for which it waits, if any.
func (d *Detector) waitsFor(id jvmthread.ThreadID) (jvmthread.IntervalRef, jvmthread.ThreadID) {
	th := d.timeline.Thread(id)
	if th == nil {
		return jvmthread.IntervalRef{}, jvmthread.NoThread
	}
	open := th.Open()
	ref := jvmthread.IntervalRef{Thread: id, Seq: open.Seq}
	switch open.State {
	case jvmthread.StateBlocked, jvmthread.StateDeadlocked:
		if owner, _ := d.binder.Owner(open.Lock); owner != jvmthread.NoThread {
			return ref, owner
		}
		return ref, open.Peer
	case jvmthread.StateParked:
		if d.timeline.MayExpire(open) {
			return ref, jvmthread.NoThread
		}
		// Readers share a lock, and release it unseen while another one has it. So of a lock that may be shared, only the owner that the JVM
		// named counts, until the lock passes on.
		owner, _ := d.binder.Owner(open.Lock)
		if owner == open.Peer || owner != jvmthread.NoThread && d.waits.Exclusive(open.Lock.Class) {
			return ref, owner
		}
		return ref, jvmthread.NoThread
	}
	return ref, jvmthread.NoThread
}

// suspect keeps the current chain as a suspected cycle.
func (d *Detector) suspect(at jvmthread.Time) {
	if len(d.suspects) >= maxSuspects {
		d.counters.Overflow++
		return
	}
	first := 0
	for i := range d.chain {
		if d.chain[i].Thread < d.chain[first].Thread {
			first = i
		}
	}
	d.suspects = append(d.suspects, Found{Since: at, Members: slices.Concat(d.chain[first:], d.chain[:first])})
}

// Due reports whether a cycle can be confirmed at the given time.
func (d *Detector) Due(now jvmthread.Time) bool {
	return len(d.suspects) > 0 && now-d.suspects[0].Since >= d.grace
}

// Confirm returns the cycles that closed at least Grace before the given time and whose threads have not moved since. It drops those whose
// threads have moved. Each is returned once. window is the start of the current window.
func (d *Detector) Confirm(now, window jvmthread.Time) (found []Found) {
	if len(d.suspects) == 0 {
		return nil
	}
	if len(d.standing) >= maxSuspects/2 {
		d.Standing() // makes room; not below, where the new ones do not have their state yet
	}
	kept := d.suspects[:0]
	for _, s := range d.suspects {
		switch {
		case d.moved(s):
		case now-s.Since < d.grace:
			kept = append(kept, s)
		default:
			d.last++
			s.Cycle, s.Window = d.last, window
			for _, m := range s.Members {
				s.Waits = append(s.Waits, *d.timeline.Thread(m.Thread).Open())
			}
			found = append(found, s)
			d.orders.hints = slices.DeleteFunc(d.orders.hints, func(h Hint) bool { return h.within(s) }) // it is no longer potential
			d.keep(s)
		}
	}
	clear(d.suspects[len(kept):])
	d.suspects = kept
	return found
}

// keep stores a deadlock for Standing and Take.
func (d *Detector) keep(f Found) {
	if len(d.standing) >= maxSuspects {
		d.counters.Overflow++
		return
	}
	d.standing = append(d.standing, f)
	if len(d.fresh) < maxSuspects { // Take may never be called
		d.fresh = append(d.fresh, f)
	}
}

// Take appends the deadlocks confirmed since the previous call.
func (d *Detector) Take(out []Found) []Found {
	out = append(out, d.fresh...)
	clear(d.fresh)
	d.fresh = d.fresh[:0]
	return out
}

// Standing returns the confirmed deadlocks that no thread has left, in the order of their detection. The slice is valid until the next
// call.
func (d *Detector) Standing() []Found {
	d.standing = slices.DeleteFunc(d.standing, d.left)
	return d.standing
}

// Break returns the members of a current deadlock, which one of them has left, and forgets it.
func (d *Detector) Break(cycle jvmthread.Cycle) []jvmthread.IntervalRef {
	i := slices.IndexFunc(d.standing, func(f Found) bool { return f.Cycle == cycle })
	if i < 0 {
		return nil
	}
	members := d.standing[i].Members
	d.standing = slices.Delete(d.standing, i, i+1)
	return members
}

// left reports whether a thread has left a deadlock.
func (d *Detector) left(f Found) bool {
	return slices.ContainsFunc(f.Members, func(m jvmthread.IntervalRef) bool {
		th := d.timeline.Thread(m.Thread)
		return th == nil || th.Dead() || th.Open().State != jvmthread.StateDeadlocked || th.Open().Cycle != f.Cycle
	})
}

// moved reports whether a thread of a suspected cycle is no longer in the interval in which the cycle closed.
func (d *Detector) moved(s Found) bool {
	return slices.ContainsFunc(s.Members, func(m jvmthread.IntervalRef) bool {
		th := d.timeline.Thread(m.Thread)
		return th == nil || th.Dead() || th.Open().Seq != m.Seq
	})
}
