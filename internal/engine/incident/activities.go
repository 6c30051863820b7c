// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"cmp"
	"time"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// maxActivities bounds the activities of single threads in an incident, and those of further threads together. The time of further ones counts as
// unknown.
const maxActivities = 1 << 10

// activity is what a holder of a lock did: all sleeps of one method are one activity, and so is all running. Thread is NoThread for those whose
// activities were too many.
type activity struct {
	of     Awaited
	thread jvmthread.ThreadID
	state  jvmthread.State
	wait   jvmthread.Wait
	stack  jvmthread.StackID
}

// cost is what an activity cost.
type cost struct {
	blocked, most time.Duration // of others meanwhile, in all and in one hold
	hold          Hold          // that one, with Doing
}

// activities are what the holders did in all holds, not only in the costliest: these may be unlike the others.
type activities map[activity]*cost

// reported is what is left of activities when an incident is reported.
type reported struct {
	all   *Hold // what the holders of the root did for most of the blocked time
	share float64
	by    map[jvmthread.ThreadID]*Hold
}

// get returns the costs to which an activity adds, nil if there are too many.
func (all activities) get(a activity) *cost {
	sum := all[a]
	if sum == nil && len(all) >= maxActivities && a.thread != jvmthread.NoThread {
		a.thread = jvmthread.NoThread
		sum = all[a]
	}
	if sum == nil && len(all) < 2*maxActivities {
		sum = &cost{}
		all[a] = sum
	}
	return sum
}

func (all activities) add(a activity, blocked, most time.Duration, h *Hold) {
	if sum := all.get(a); sum != nil {
		sum.add(blocked, most, h)
	}
}

func (c *cost) add(blocked, most time.Duration, h *Hold) {
	c.blocked += blocked
	if most > c.most {
		c.most, c.hold = most, *h
	}
}

// activitiesOf adds what a thread did in a hold of a lock, given the waits for it in the queue.
func (f *Finder) activitiesOf(w *window.Window, inc *Incident, h Hold) {
	at, before := h.Start, f.queue.until(h.Start)
	for iv := range w.IntervalsOf(h.Thread, h.Start, h.End) {
		for p := range window.Pieces(&iv, h.Start, h.End, w.Pauses(h.Start, h.End)) {
			if f.intervals--; f.intervals < 0 {
				return
			}
			if p.Start > at { // what it did before is not known
				before = f.queue.until(p.Start)
			}
			at = p.End
			until := f.queue.until(at)
			blocked := time.Duration(until - before)
			before = until
			did := &p.Interval
			h.Doing = *did
			inc.activities.add(activity{h.Of, h.Thread, did.State, did.Wait, did.Stack}, blocked, blocked, &h)
		}
	}
}

// allowance is how many intervals of holders are looked at for the incidents of a window: permits of one thread overlap, and each might have all
// its intervals.
func allowance(w *window.Window) int {
	n := 1 << 14
	for i := range w.Lanes {
		n += 4 * w.Lanes[i].Intervals.Len()
	}
	return n
}

// rather reports whether an activity describes the holders rather than another one.
func (c *cost) rather(other *cost) bool {
	return other == nil || cmp.Or(cmp.Compare(other.blocked, c.blocked), cmp.Compare(c.hold.Doing.Start, other.hold.Doing.Start),
		cmp.Compare(c.hold.Thread, other.hold.Thread)) < 0
}

// finishActivities chooses what describes the holders of the root.
func (inc *Incident) finishActivities() {
	root := inc.Root()
	all, by := make(activities), make(map[jvmthread.ThreadID]*cost)
	inc.did.by = make(map[jvmthread.ThreadID]*Hold)
	for a, sum := range inc.activities {
		if a.of != root.ID || sum.blocked == 0 {
			continue
		}
		if a.thread != jvmthread.NoThread && sum.rather(by[a.thread]) {
			by[a.thread] = sum
			inc.did.by[a.thread] = &sum.hold
		}
		a.thread = jvmthread.NoThread
		all.add(a, sum.blocked, sum.most, &sum.hold)
	}
	var most *cost
	for _, sum := range all {
		if sum.rather(most) {
			most = sum
		}
	}
	if most == nil {
		return
	}
	var blocked time.Duration // while someone held the root, known or not what it did
	for i := range inc.Holders {
		blocked += inc.Holders[i].Blocked
	}
	inc.did.all, inc.did.share = &most.hold, float64(most.blocked)/float64(max(blocked, 1))
}

// DoingOf returns a hold of the root with what the holder did for most of the blocked time; nil if that is not known. It has no Target.
func (inc *Incident) DoingOf(id jvmthread.ThreadID) *Hold { return inc.did.by[id] }

// Doing is DoingOf for all holders together. It also returns the part of the blocked time in which they did it, from 0 to 1, of that in which
// threads are known to have held the root.
func (inc *Incident) Doing() (*Hold, float64) { return inc.did.all, inc.did.share }
