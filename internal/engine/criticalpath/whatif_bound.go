// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// connected is what many groups have in common: who depends on each point.
type connected struct {
	next    []int32          // by point: the next one of the thread, or none
	heads   []int32          // by point: the first point that depends on it by an edge, or none
	nexts   []int32          // by point: the next point that depends on the same one, or none
	cost    []jvmthread.Time // by point: sum over the chain back to the root, as in bound, if it meets no lock of the group
	rest    []jvmthread.Time // by point that waits for a lock: bound of the lock's group from this point
	nearest []int32          // by point that waits for a lock: the nearest such point of the group on the chain back from its prev, or none
	hidden  []int32          // by point that waits for a lock: the value in newest before this point
	newest  []int32          // by group: its nearest point on the chain back from the current point, or none
}

// connect finds who depends on each point up to end.
func (r *Retiming) connect(end int32) {
	n := int(end) + 1
	c := &r.connected
	c.next, c.heads = fill(c.next, n, none), fill(c.heads, n, none)
	c.nexts = slices.Grow(c.nexts[:0], n)[:n]
	for i := int32(1); i <= end; i++ {
		p := &r.points[i]
		c.next[p.prev] = i // useless for the root
		if p.src >= 0 {
			c.nexts[i] = c.heads[p.src]
			c.heads[p.src] = i
		}
	}
}

// bounds computes the bounds of all groups at once. The chains back from all points form a tree. The walk through the tree keeps, for each
// group, the nearest point on the chain that waits for a lock of the group: there, bound leaves the chain.
func (r *Retiming) bounds(list []Saving, end int32) {
	r.connect(end)
	c, n := &r.connected, int(end)+1
	c.cost, c.rest = slices.Grow(c.cost[:0], n)[:n], slices.Grow(c.rest[:0], n)[:n]
	c.nearest, c.hidden = slices.Grow(c.nearest[:0], n)[:n], slices.Grow(c.hidden[:0], n)[:n]
	c.newest = fill(c.newest, len(r.groups), none)
	for i := int32(1); i <= end; i++ {
		if r.points[i].prev == 0 {
			c.nearest[i] = none
		}
	}
	for i := int32(1); i <= end; i++ {
		if r.back(i) == 0 {
			r.tree(i)
		}
	}
	c.cost[0] = 0
	for i := int32(1); i <= end; i++ {
		p := &r.points[i]
		c.cost[i] = c.cost[r.back(i)]
		if p.src >= 0 && p.loose > 0 {
			c.cost[i] += p.elastic
		}
		if p.lock >= 0 {
			c.rest[i] = p.elastic + r.beyond(p.prev, c.nearest[i])
		}
	}
	for i := range list {
		s := &list[i]
		s.Bound = r.beyond(end, r.chained[s.Drag])
	}
}

// beyond returns the bound from a point, given the first point on the chain back from there that waits for a lock of the group.
func (r *Retiming) beyond(at, first int32) jvmthread.Time {
	c := &r.connected
	if first < 0 {
		return c.cost[at]
	}
	return c.cost[at] - c.cost[first] + c.rest[first]
}

// tree walks through the points whose chain leads to a point.
func (r *Retiming) tree(top int32) {
	at := top
	r.enter(at)
	for {
		next := r.child(at)
		for next < 0 {
			r.leave(at)
			if at == top {
				return
			}
			if next = r.sibling(at); next < 0 {
				at = r.back(at)
			}
		}
		at = next
		r.enter(at)
	}
}

// child returns the first point whose chain continues with a point, or none.
func (r *Retiming) child(at int32) int32 {
	if next := r.next[at]; next >= 0 && r.back(next) == at {
		return next
	}
	return r.tight(r.heads[at])
}

// sibling returns the next point whose chain continues with the same point, or none.
func (r *Retiming) sibling(at int32) int32 {
	if p := &r.points[at]; p.src >= 0 && p.loose == 0 {
		return r.tight(r.nexts[at])
	}
	return r.tight(r.heads[r.points[at].prev])
}

// tight returns the first point of a list of dependent ones whose chain follows the dependency, or none.
func (r *Retiming) tight(at int32) int32 {
	for at >= 0 && r.points[at].loose > 0 {
		at = r.nexts[at]
	}
	return at
}

func (r *Retiming) enter(at int32) {
	c := &r.connected
	if lock := r.points[at].lock; lock >= 0 {
		newest := &c.newest[r.groupOf[lock]]
		c.hidden[at], *newest = *newest, at
	}
	if next := c.next[at]; next >= 0 {
		if lock := r.points[next].lock; lock >= 0 {
			c.nearest[next] = c.newest[r.groupOf[lock]]
		}
	}
}

func (r *Retiming) leave(at int32) {
	if lock := r.points[at].lock; lock >= 0 {
		r.newest[r.groupOf[lock]] = r.hidden[at]
	}
}
