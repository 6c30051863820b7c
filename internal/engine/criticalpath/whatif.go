// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// batch is the number of locks retimed in one pass over the points.
const batch = 8

// Saving is how much earlier a thread would end if no thread had to wait for a lock.
type Saving struct {
	Lock  jvmthread.LockID // its hash is zero for all locks of the class
	Drag  jvmthread.Time   // how much earlier the thread would end
	Bound jvmthread.Time   // upper bound of Drag
}

// AppendSavings appends the savings for each lock, or class of locks, largest drag first. Locks that are not on the chain of causes save
// nothing and are left out; beyond the limit, the locks with the least time on the chain are left out too. Call sites are not
// distinguished: BySite is the same as ByClass.
func (r *Retiming) AppendSavings(out []Saving, thread jvmthread.ThreadID, by Grouping) []Saving {
	end, ok := r.end(thread)
	if !ok {
		return out
	}
	first := len(out)
	r.group(by)
	for at := end; at > 0; at = r.back(at) {
		if p := &r.points[at]; p.lock >= 0 {
			r.chained[r.groupOf[p.lock]] += p.elastic + 1 // plus one, since an empty wait can lead to others
		}
	}
	for k, id := range r.groups {
		if r.chained[k] > 0 {
			out = append(out, Saving{Lock: id, Bound: r.chained[k], Drag: jvmthread.Time(k)})
		}
	}
	slices.SortFunc(out[first:], func(a, b Saving) int { return cmp.Or(cmp.Compare(b.Bound, a.Bound), compareLocks(a, b)) })
	out = out[:min(len(out), first+r.graph.limits.MaxLocks)]
	for i := range out[first:] {
		s := &out[first+i]
		s.Bound = r.bound(end, int32(s.Drag))
	}
	list := out[first:]
	for len(list) > 0 {
		n := min(batch, len(list))
		r.pass(list[:n], end)
		list = list[n:]
	}
	slices.SortFunc(out[first:], func(a, b Saving) int {
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
		at, ok := r.classes[id.Class]
		if by == ByLock || !ok {
			at = int32(len(r.groups))
			if by != ByLock {
				r.classes[id.Class] = at
				id.Hash = 0
			}
			r.groups = append(r.groups, id)
		}
		r.groupOf = append(r.groupOf, at)
	}
	r.chained = slices.Grow(r.chained[:0], len(r.groups))[:len(r.groups)]
	clear(r.chained)
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

// pass retimes all points once for up to a batch of groups. On entry, the Drag fields contain the group numbers.
func (r *Retiming) pass(list []Saving, end int32) {
	r.columns = r.columns[:0]
	for _, group := range r.groupOf {
		column := int8(-1)
		for k := range list {
			if jvmthread.Time(group) == list[k].Drag {
				column = int8(k)
			}
		}
		r.columns = append(r.columns, column)
	}
	r.gains = slices.Grow(r.gains[:0], len(r.points))[:len(r.points)]
	r.gains[0] = [batch]jvmthread.Time{}
	for i := 1; i <= int(end); i++ {
		p := &r.points[i]
		gain, before := &r.gains[i], &r.gains[p.prev]
		if p.src >= 0 {
			other := &r.gains[p.src]
			for k := range gain {
				gain[k] = min(before[k]+p.elastic, other[k]+p.loose)
			}
		} else {
			*gain = *before
		}
		if p.lock >= 0 {
			if k := r.columns[p.lock]; k >= 0 {
				gain[k] = before[k] + p.elastic
			}
		}
	}
	for k := range list {
		list[k].Drag = r.gains[end][k]
	}
}

// Slacks computes for every wait how much longer it could last without delaying the end of a thread. Slack returns the results.
func (r *Retiming) Slacks(thread jvmthread.ThreadID) {
	r.slacks = slices.Grow(r.slacks[:0], len(r.points))[:len(r.points)]
	for i := range r.slacks {
		r.slacks[i] = infinite
	}
	end, ok := r.end(thread)
	if !ok {
		return
	}
	r.slacks[end] = 0
	for i := len(r.points) - 1; i > 0; i-- {
		p, s := &r.points[i], r.slacks[i]
		if s == infinite {
			continue
		}
		if p.src < 0 {
			r.slacks[p.prev] = min(r.slacks[p.prev], s)
			continue
		}
		r.slacks[p.prev] = min(r.slacks[p.prev], s+p.elastic)
		r.slacks[p.src] = min(r.slacks[p.src], s+p.loose)
	}
}

// Slack returns how much longer a wait could last, as computed by Slacks. It returns false if the interval is not a wait with a known
// cause, or if the end does not depend on it.
func (r *Retiming) Slack(ref jvmthread.IntervalRef) (jvmthread.Time, bool) {
	g := r.graph
	at := g.laneOf(ref.Thread)
	index := g.index(at, ref.Seq)
	if index < 0 || len(r.slacks) != len(r.points) {
		return 0, false
	}
	l := &g.lanes[at]
	p := r.last(at, min(l.intervals[index].End, r.hi), index)
	if p < 0 || r.raw[p].where != l.base+index || r.slacks[r.place[p]] >= infinite {
		return 0, false
	}
	return r.slacks[r.place[p]], true
}
