// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Saving is how much earlier a thread would end if no thread had to wait for a lock.
type Saving struct {
	Lock    jvmthread.LockID // its hash is zero for all locks of the class
	Drag    jvmthread.Time   // how much earlier the thread would end
	Bound   jvmthread.Time   // upper bound of Drag
	Unknown bool             // Drag was not computed, and is zero: the limit of work was reached
}

// fewGroups is the number of groups that are computed one by one: with more, it is cheaper to find first what they have in common.
const fewGroups = 2 * batch

// AppendSavings appends the savings for each lock, or class of locks, largest drag first. Locks that are not on the chain of causes save
// nothing and are left out. Call sites are not distinguished: BySite is the same as ByClass. The work is linear in the window: if more than a
// hundred locks could each save so much that most of the window matters for their drags, those with the smallest bounds stay unknown.
func (r *Retiming) AppendSavings(out []Saving, thread jvmthread.ThreadID, by Grouping) []Saving {
	end, ok := r.end(thread)
	if !ok {
		return out
	}
	first := len(out)
	r.group(by)
	out = r.appendChained(out, end)
	list := out[first:]
	if len(list) <= fewGroups {
		for i := range list {
			list[i].Bound = r.bound(end, int32(list[i].Drag))
		}
	} else {
		r.bounds(list, end)
		slices.SortFunc(list, func(a, b Saving) int { return cmp.Or(cmp.Compare(b.Bound, a.Bound), compareLocks(a, b)) })
	}
	r.computeDrags(list, end)
	slices.SortFunc(list, func(a, b Saving) int {
		return cmp.Or(cmp.Compare(b.Drag, a.Drag), cmp.Compare(b.Bound, a.Bound), compareLocks(a, b))
	})
	return out
}

func compareLocks(a, b Saving) int {
	return cmp.Or(cmp.Compare(a.Lock.Class, b.Lock.Class), cmp.Compare(a.Lock.Hash, b.Lock.Hash))
}

// end returns the last point of a thread.
func (r *Retiming) end(thread jvmthread.ThreadID) (int32, bool) {
	at := r.graph.laneOf(thread)
	if at < 0 || r.laneStop(at) == int(r.lanes[at]) {
		return 0, false
	}
	return r.place[r.laneStop(at)-1], true
}

// group assigns the locks to groups.
func (r *Retiming) group(by Grouping) {
	r.groups, r.groupOf = r.groups[:0], r.groupOf[:0]
	if r.classes == nil {
		r.classes = make(map[jvmthread.ClassID]int32)
	}
	clear(r.classes)
	for i := range r.graph.locks {
		id := r.graph.locks[i].id
		if by == ByLock {
			r.groupOf = append(r.groupOf, int32(len(r.groups)))
			r.groups = append(r.groups, id)
			continue
		}
		at, ok := r.classes[id.Class]
		if !ok {
			at = int32(len(r.groups))
			r.classes[id.Class] = at
			id.Hash = 0
			r.groups = append(r.groups, id)
		}
		r.groupOf = append(r.groupOf, at)
	}
}

// appendChained appends the groups on the chain of causes that leads to a point, with the number of the group as the drag.
func (r *Retiming) appendChained(out []Saving, end int32) []Saving {
	r.chained = fill(r.chained, len(r.groups), none)
	for at := end; at > 0; at = r.back(at) {
		lock := r.points[at].lock
		if lock < 0 {
			continue
		}
		if group := r.groupOf[lock]; r.chained[group] < 0 {
			r.chained[group] = at
			out = append(out, Saving{Lock: r.groups[group], Drag: jvmthread.Time(group)})
		}
	}
	return out
}

// back returns the point that a point depends on most: the cause of a wait, or the previous point of the thread.
func (r *Retiming) back(at int32) int32 {
	p := &r.points[at]
	if p.src >= 0 && p.loose == 0 {
		return p.src
	}
	return p.prev
}

// bound adds up the waits for the locks of a group on the chain back from a point. At these waits it stays on the thread; the rest is a
// chain of dependencies without the group.
func (r *Retiming) bound(at, group int32) (sum jvmthread.Time) {
	for at > 0 {
		p := &r.points[at]
		switch {
		case p.lock >= 0 && r.groupOf[p.lock] == group:
			sum += p.elastic
			at = p.prev
		case p.src >= 0 && p.loose == 0:
			at = p.src
		default:
			if p.src >= 0 {
				sum += p.elastic
			}
			at = p.prev
		}
	}
	return sum
}
