// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"cmp"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// How long an incident may be open before it is cut, at the end of a window. It becomes visible then. What follows is rarely news.
const (
	cutAfter      = jvmthread.Time(time.Minute)
	cutAgainAfter = jvmthread.Time(10 * time.Minute)
)

// Finder finds the incidents in the windows of a session, in order. One goroutine owns it.
type Finder struct {
	Memory Memory            // lends the memory for one window at a time; nil: the Finder keeps its own
	Waits  *waits.Classifier // finds pools whose waiters each wait on an object of their own; nil: each object is a pool

	*Scratch // of the current window

	opt       Options
	open      []*Incident // not over at the end of the last window
	ended     []*Incident // in this window, or cut; those that are not small
	fresh     []fresh
	deadlocks map[jvmthread.Cycle]deadlock.Found // that have an open incident
	classes   map[string]uint32                  // of libraries that implement pools, numbered
	pooled    map[Awaited]Awaited                // the pools of objects on which threads waited at the end of the last window
	found     Found
	queue     queue
	steps     int // holds of locks other than roots that may yet be looked at in this window
	intervals int // of holders that may yet be looked at in this window

	cutAfter, cutAgainAfter jvmthread.Time
}

// fresh is a group that began and ended within the window.
type fresh struct {
	group int
	id    ID
}

// NewFinder returns a Finder.
func NewFinder(opt Options) *Finder {
	return &Finder{
		opt: opt, cutAfter: cutAfter, cutAgainAfter: cutAgainAfter, deadlocks: make(map[jvmthread.Cycle]deadlock.Found),
		classes: make(map[string]uint32), pooled: make(map[Awaited]Awaited),
	}
}

// Find returns the incidents that ended in a window. The spans of the window must be selected. The result is valid until the next call; its
// incidents stay.
func (f *Finder) Find(w *window.Window) *Found {
	f.borrow()
	defer f.release()
	clear(f.found.Incidents) // or the memory of what was reported once would stay
	clear(f.ended)
	f.found = Found{Incidents: f.found.Incidents[:0]}
	f.ended, f.fresh = f.ended[:0], f.fresh[:0]
	for _, d := range w.Deadlocks {
		f.deadlocks[d.Cycle] = d
	}
	f.episodes.find(w)
	f.pools(w)
	f.episodes.form(w)
	f.alone(w)
	f.found.Starved = time.Duration(f.episodes.starved)
	f.groups = f.episodes.groups(w, f.groups[:0])
	f.steps = workPerWait * (len(f.episodes.waits) + len(w.Holds))
	f.intervals = allowance(w)
	claims := f.claim(w)
	previous := f.open
	f.open = nil
	for i := range f.groups {
		f.group(w, i, claims[i])
	}
	for _, inc := range previous {
		if inc.taken {
			inc.taken = false
		} else {
			f.end(inc)
		}
	}
	f.stay()
	f.report(w)
	return &f.found
}

// claim finds which group continues each open incident: the one with its root, or the longest one with one of its locks.
func (f *Finder) claim(w *window.Window) map[int][]*Incident {
	if len(f.open) == 0 {
		return nil
	}
	byLock := make(map[Awaited]*Incident)
	for _, inc := range f.open {
		for i := range inc.open {
			iv := &inc.open[i].Interval
			byLock[awaitedBy(iv.Wait, iv.Lock, iv.Stack)] = inc
		}
	}
	best := make(map[*Incident]int)
	for i := range f.groups {
		g := &f.groups[i]
		if !g.carried {
			continue
		}
		for n := g.head; n >= 0; n = f.episodes.list[n].next {
			ep := &f.episodes.list[n]
			if !ep.carried {
				continue
			}
			for id := range f.episodes.objects(w, ep) {
				inc := byLock[id]
				if inc == nil {
					continue
				}
				if other, ok := best[inc]; !ok || f.rather(inc, g, &f.groups[other]) {
					best[inc] = i
				}
			}
		}
	}
	claims := make(map[int][]*Incident)
	for _, inc := range f.open {
		if i, ok := best[inc]; ok {
			claims[i] = append(claims[i], inc)
			inc.taken = true
		}
	}
	return claims
}

// rather reports whether the incident continues rather in the first group.
func (f *Finder) rather(inc *Incident, a, b *group) bool {
	if x, y := f.isRoot(inc, a), f.isRoot(inc, b); x != y {
		return x
	}
	return a.time > b.time
}

func (f *Finder) isRoot(inc *Incident, g *group) bool {
	if inc.Cycle != 0 || g.cycle != 0 {
		return inc.Cycle == g.cycle
	}
	return f.episodes.awaited[f.episodes.list[g.root].lock] == inc.key
}

// group adds a group to the incidents that it continues, or to a new one.
func (f *Finder) group(w *window.Window, at int, claimed []*Incident) {
	g := &f.groups[at]
	if len(claimed) == 0 && !g.open {
		if time.Duration(g.time) < f.opt.MinTime && g.cycle == 0 {
			f.found.Rest.add(time.Duration(g.time))
		} else {
			f.fresh = append(f.fresh, fresh{at, f.idOf(w, g)})
		}
		return
	}
	var inc *Incident
	if len(claimed) == 0 {
		inc = newIncident(f.idOf(w, g))
	} else {
		slices.SortFunc(claimed, func(a, b *Incident) int { return a.compare(b.ID) })
		inc = claimed[0]
		for _, other := range claimed[1:] {
			inc.absorb(other)
		}
	}
	f.collect(w, g, inc)
	switch limit := f.limit(inc); {
	case !g.open:
		f.end(inc)
	case w.Cut.Last() || w.End-inc.since >= limit:
		inc.Open = true
		f.end(inc)
		if !w.Cut.Last() {
			f.open = append(f.open, f.next(inc))
		}
	default:
		f.open = append(f.open, inc)
	}
}

// next returns the incident that continues one that is cut.
func (f *Finder) next(inc *Incident) *Incident {
	if f.opt.Whole {
		return inc.copy()
	}
	return inc.rest()
}

// limit returns how long an incident may be open.
func (f *Finder) limit(inc *Incident) jvmthread.Time {
	switch {
	case inc.Cycle != 0 && !inc.again:
		return 0
	case inc.since > inc.Start || inc.Rest:
		return f.cutAgainAfter
	}
	return f.cutAfter
}

// idOf returns the ID of the incident of a group that continues no other one.
func (f *Finder) idOf(w *window.Window, g *group) ID {
	id := ID{Start: g.end}
	for n := g.head; n >= 0; n = f.episodes.list[n].next {
		ep := &f.episodes.list[n]
		for _, i := range f.episodes.order[ep.first : ep.last+1] {
			wt := &f.episodes.waits[i]
			other := ID{Start: wt.start, First: w.Lanes[wt.lane].Thread}
			if other.Start > ep.start {
				break
			}
			if id.First == jvmthread.NoThread || other.compare(id) < 0 {
				id = other
			}
		}
	}
	return id
}

func (id ID) compare(other ID) int {
	order := cmp.Or(cmp.Compare(id.Start, other.Start), cmp.Compare(id.First, other.First))
	if order != 0 || id.Rest == other.Rest {
		return order
	}
	if id.Rest {
		return -1
	}
	return 1
}
