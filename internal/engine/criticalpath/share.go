// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Grouping says what the waits of a path are told apart by.
type Grouping uint8

// The groupings.
const (
	ByLock  Grouping = iota // each lock
	ByClass                 // the class of the lock
	BySite                  // the class of the lock and the stack of the wait
)

// Group is a set of waits, and the lock or class and call site that they have in common.
type Group struct {
	Lock  jvmthread.LockID  // its hash is zero if locks of a class are together
	Stack jvmthread.StackID // NoStack if stacks are not told apart
	State jvmthread.State   // reentering counts as blocked
}

// Share is what a group comes to on a path. The shares of groups overlap if one wait led to another, so they can be more than the path.
type Share struct {
	Group Group
	Time  jvmthread.Time // of the segments that were reached through any of its waits; a segment counts once
	Count int            // waits on the path
}

// group returns the group to which a wait belongs.
func (by Grouping) group(w *Wait) Group {
	g := Group{Lock: w.Lock, State: w.State}
	if g.State == jvmthread.StateReentering {
		g.State = jvmthread.StateBlocked
	}
	switch by {
	case ByLock:
	case ByClass:
		g.Lock.Hash = 0
	case BySite:
		g.Lock.Hash, g.Stack = 0, w.Stack
	}
	return g
}

// AppendShares appends the shares of all waits of the path, the longest first.
func (p *Path) AppendShares(out []Share, by Grouping) []Share {
	p.total = slices.Grow(p.total[:0], len(p.Waits))[:len(p.Waits)]
	clear(p.total)
	for i := range p.Segments {
		if s := &p.Segments[i]; s.Via >= 0 {
			p.total[s.Via] += s.End - s.Start
		}
	}
	for i, w := range slices.Backward(p.Waits) {
		if w.Parent >= 0 {
			p.total[w.Parent] += p.total[i] // which is complete: a wait is behind its parent
		}
	}
	if p.groups == nil {
		p.groups = make(map[Group]int32)
	}
	clear(p.groups)
	first := len(out)
	for i := range p.Waits {
		g := by.group(&p.Waits[i])
		at, ok := p.groups[g]
		if !ok {
			at = int32(len(out) - first)
			p.groups[g] = at
			out = append(out, Share{Group: g})
		}
		s := &out[first+int(at)]
		s.Count++
		if !p.inside(int32(i), g, by) {
			s.Time += p.total[i]
		}
	}
	slices.SortFunc(out[first:], func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Count, a.Count), a.Group.compare(b.Group))
	})
	return out
}

// inside reports whether a wait was itself reached through one of its group.
func (p *Path) inside(at int32, g Group, by Grouping) bool {
	for at = p.Waits[at].Parent; at >= 0; at = p.Waits[at].Parent {
		if by.group(&p.Waits[at]) == g {
			return true
		}
	}
	return false
}

func (g Group) compare(h Group) int {
	return cmp.Or(cmp.Compare(g.Lock.Class, h.Lock.Class), cmp.Compare(g.Lock.Hash, h.Lock.Hash), cmp.Compare(g.Stack, h.Stack),
		cmp.Compare(g.State, h.State))
}

// Idle reports whether an interval is a wait that no path asked for since Reset led through. Being blocked is never idle.
func (g *Graph) Idle(ref jvmthread.IntervalRef) bool {
	at := g.laneOf(ref.Thread)
	index := g.index(at, ref.Seq)
	return index >= 0 && g.IdleAt(int(at), int(index))
}

// IdleAt is Idle of the interval at a place in a lane, for lanes of threads that are all different.
func (g *Graph) IdleAt(lane, index int) bool {
	n := &g.nodes[int(g.lanes[lane].base)+index]
	switch n.state {
	case jvmthread.StateWaiting, jvmthread.StateJoining, jvmthread.StateParked:
		return n.flags&onPath == 0
	}
	return false
}
