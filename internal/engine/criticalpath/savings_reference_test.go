// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Savings returns the savings for each group.
func (r *Reference) Savings(thread jvmthread.ThreadID, by Grouping) map[jvmthread.LockID]Saving {
	out := make(map[jvmthread.LockID]Saving)
	end, ok := r.end(thread)
	for at := end; ok && at >= 0; {
		p := &r.points[at]
		if p.lock >= 0 {
			id := r.groupOf(p.lock, by)
			if _, known := out[id]; !known {
				of := func(p *refPoint) bool { return p.lock >= 0 && r.groupOf(p.lock, by) == id }
				out[id] = Saving{Lock: id, Drag: r.drag(end, of), Bound: r.bound(end, of)}
			}
		}
		at = p.back()
	}
	return out
}

func (r *Reference) groupOf(lock int32, by Grouping) jvmthread.LockID {
	id := r.g.locks[lock].id
	if by != ByLock {
		id.Hash = 0
	}
	return id
}

func (r *Reference) end(thread jvmthread.ThreadID) (int, bool) {
	at := r.g.laneOf(thread)
	if at < 0 || r.first[at] == r.first[at+1] {
		return 0, false
	}
	return r.first[at+1] - 1, true
}

func (p *refPoint) back() int {
	if p.hasSrc && p.loose == 0 {
		return p.src
	}
	return p.prev
}

// drag returns the gain of a point without the dependencies of a group.
func (r *Reference) drag(end int, of func(*refPoint) bool) jvmthread.Time {
	gains := make([]jvmthread.Time, len(r.points)+1) // the last one is the root
	at := func(i int) jvmthread.Time { return gains[(i+len(gains))%len(gains)] }
	for _, i := range r.order {
		switch p := &r.points[i]; {
		case of(p):
			gains[i] = at(p.prev) + p.elastic
		case p.hasSrc:
			gains[i] = min(at(p.prev)+p.elastic, at(p.src)+p.loose)
		default:
			gains[i] = at(p.prev)
		}
	}
	return gains[end]
}

// bound adds up the time along the chain that stays on threads that wait for the group.
func (r *Reference) bound(at int, of func(*refPoint) bool) (sum jvmthread.Time) {
	for at >= 0 {
		p := &r.points[at]
		if of(p) {
			sum += p.elastic
			at = p.prev
			continue
		}
		if p.hasSrc && p.loose > 0 {
			sum += p.elastic
		}
		at = p.back()
	}
	return sum
}

// Slacks returns how much longer each wait with a known cause could last without delaying the end of a thread.
func (r *Reference) Slacks(thread jvmthread.ThreadID) map[jvmthread.IntervalRef]jvmthread.Time {
	slacks := make([]jvmthread.Time, len(r.points))
	for i := range slacks {
		slacks[i] = infinite
	}
	if end, ok := r.end(thread); ok {
		slacks[end] = 0
	}
	out := make(map[jvmthread.IntervalRef]jvmthread.Time)
	for _, i := range slices.Backward(r.order) {
		p, s := &r.points[i], slacks[i]
		if s >= infinite {
			continue
		}
		lower := func(at int, s jvmthread.Time) {
			if at >= 0 {
				slacks[at] = min(slacks[at], s)
			}
		}
		if p.hasSrc {
			lower(p.prev, s+p.elastic)
			lower(p.src, s+p.loose)
		} else {
			lower(p.prev, s)
		}
	}
	for lane := range r.g.lanes {
		for i, iv := range r.g.lanes[lane].intervals.All() {
			at := r.last(int32(lane), min(iv.End, r.hi), int32(i))
			if at >= r.first[lane] && max(0, r.points[at].index) == int32(i) && slacks[at] < infinite {
				out[jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}] = slacks[at]
			}
		}
	}
	return out
}
