// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import "unsafe"

// perEntry is what an entry of a small map takes, in bytes.
const perEntry = 40

func room[T any](list []T) int { return cap(list) * int(unsafe.Sizeof(*new(T))) }

// Held estimates the bytes of the graph without the intervals, which belong to the window.
func (g *Graph) Held() int {
	return room(g.lanes) + room(g.nodes) + room(g.edges) + room(g.holds) + room(g.locks) + room(g.stack) + perEntry*(cap(g.lanes)+cap(g.locks))
}

// Held estimates the bytes of the path.
func (p *Path) Held() int { return room(p.Segments) + room(p.Waits) + room(p.total) }

// Held estimates the bytes of the memory for savings and slacks.
func (r *Retiming) Held() int {
	return room(r.points) + room(r.lanes) + room(r.before) + room(r.place) + room(r.raw) +
		room(r.grants) + room(r.nextHold) + room(r.endOf) + room(r.pending) +
		room(r.missing) + room(r.waiting) + room(r.others) + room(r.ready) + room(r.slacks) + room(r.groups) + room(r.groupOf) + room(r.chained) +
		room(r.runs) + room(r.held) + room(r.heldAt) + room(r.own) + room(r.other) + room(r.gain) +
		room(r.next) + room(r.heads) + room(r.nexts) + room(r.cost) + room(r.rest) + room(r.nearest) + room(r.hidden) + room(r.newest) +
		room(r.gains) + room(r.columns) + room(r.narrow) + room(r.slack) + room(r.renamed)
}
