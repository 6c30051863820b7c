// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"sort"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// group is the episodes of a window with one root.
type group struct {
	root    int32 // episode
	head    int32 // the first episode of a list
	cycle   jvmthread.Cycle
	end     jvmthread.Time
	time    jvmthread.Time
	carried bool
	open    bool
}

// workPerWait bounds the search for parents and holders: the holds of semaphores overlap, and each might be looked at for each episode.
const workPerWait = 16

// groups finds the root of each episode.
func (e *episodes) groups(w *window.Window, out []group) []group {
	e.steps = workPerWait*(len(e.waits)+len(w.Holds)) + 1<<14
	for i := range e.list {
		if e.list[i].cycle == 0 {
			e.list[i].parent = e.parent(w, int32(i))
		}
	}
	byCycle := make(map[jvmthread.Cycle]int32)
	for i := range e.list {
		ep := &e.list[i]
		root := e.root(int32(i))
		cycle := e.list[root].cycle
		at := e.list[root].group
		if other, ok := byCycle[cycle]; ok && cycle != 0 {
			at = other
		}
		if at < 0 {
			at = int32(len(out))
			out = append(out, group{root: root, head: -1, cycle: cycle})
			e.list[root].group = at
			if cycle != 0 {
				byCycle[cycle] = at
			}
		}
		g := &out[at]
		ep.next, g.head = g.head, int32(i)
		g.end = max(g.end, ep.end)
		g.time += ep.time
		g.carried = g.carried || ep.carried
		g.open = g.open || ep.open
	}
	return out
}

// parent returns the episode of which another one is a consequence, or the same.
func (e *episodes) parent(w *window.Window, at int32) int32 {
	ep := &e.list[at]
	clear(e.parts)
	var held jvmthread.Time
	for i, h := range e.heldDuring(w, ep) {
		from, to := max(h.Start, ep.start), min(h.End, ep.end)
		if i >= 0 {
			from, to = max(from, e.waits[i].start), min(to, e.waits[i].end)
		}
		if e.steps--; e.steps < 0 {
			return at
		}
		if from >= to {
			continue
		}
		held += to - from
		for _, wt := range e.during(w, h.Thread, from, to) {
			e.steps--
			if d := min(wt.end, to) - max(wt.start, from); d > 0 && wt.episode != at {
				e.parts[wt.episode] += d
			}
		}
	}
	best, most := at, max(held, ep.end-ep.start)/2
	for other, d := range e.parts {
		if d > most || d == most && best != at && other < best {
			best, most = other, d
		}
	}
	return best
}

// during returns the contended waits of a thread that overlap a time, and perhaps some at its edges.
func (e *episodes) during(w *window.Window, id jvmthread.ThreadID, from, to jvmthread.Time) []wait {
	lane := sort.Search(len(w.Lanes), func(i int) bool { return w.Lanes[i].Thread >= id })
	if lane == len(w.Lanes) || w.Lanes[lane].Thread != id {
		return nil
	}
	mine := e.waits[e.lanes[lane]:e.lanes[lane+1]]
	first := sort.Search(len(mine), func(i int) bool { return mine[i].end > from })
	last := first
	for last < len(mine) && mine[last].start < to {
		last++
	}
	return mine[first:last]
}

// root returns the episode at the end of the chain of parents.
func (e *episodes) root(at int32) int32 {
	slow, fast := at, at
	for {
		if slow = e.list[slow].parent; e.list[slow].parent == slow {
			break
		}
		if fast = e.list[e.list[fast].parent].parent; fast == slow {
			slow = e.cut(slow)
			break
		}
	}
	for at != slow { // shortens the chain for the next search
		next := e.list[at].parent
		if next == at {
			break
		}
		e.list[at].parent = slow
		at = next
	}
	return slow
}

// cut makes the first of episodes that lead to each other their root, and returns it.
func (e *episodes) cut(at int32) int32 {
	first := at
	for i := e.list[at].parent; i != at; i = e.list[i].parent {
		if a, b := &e.list[i], &e.list[first]; a.start < b.start || a.start == b.start && i < first {
			first = i
		}
	}
	e.list[first].parent = first
	return first
}
