// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Grouping selects how the waits of a path are grouped.
type Grouping uint8

// The groupings.
const (
	ByLock  Grouping = iota // each lock
	ByClass                 // the class of the lock
	BySite                  // the class of the lock and the stack of the wait
)

// Group is a set of waits, identified by the lock, or by the class and call site, that they have in common.
type Group struct {
	Lock  jvmthread.LockID  // its hash is zero if grouped by class
	Stack jvmthread.StackID // NoStack unless grouped by call site
	Kind  jvmthread.Wait    // reentering is reported as waiting for a lock
}

// Share is the part of a path that belongs to a group. Shares overlap if one wait led to another, so their sum can exceed the path.
type Share struct {
	Group Group
	Time  jvmthread.Time // of the segments reached through any of its waits, each counted once
	Count int            // waits on the path
}

// group returns the group of a wait.
func (by Grouping) group(w *Wait) Group {
	g := Group{Lock: w.Lock, Kind: w.Kind}
	if g.Kind == jvmthread.WaitReenter {
		g.Kind = jvmthread.WaitLock
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

// AppendShares appends the shares of all waits of the path, longest first. Equal ones are in the order of the path: IDs of classes and stacks
// differ after a restart.
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
			p.total[w.Parent] += p.total[i] // complete, since children come after their parents
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
	slices.SortStableFunc(out[first:], func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Count, a.Count))
	})
	return out
}

// inside reports whether a wait was reached through another wait of its group.
func (p *Path) inside(at int32, g Group, by Grouping) bool {
	for at = p.Waits[at].Parent; at >= 0; at = p.Waits[at].Parent {
		if by.group(&p.Waits[at]) == g {
			return true
		}
	}
	return false
}

// Idle reports whether an interval is a wait that no path computed since Reset leads through. A blocked thread is never idle.
func (g *Graph) Idle(ref jvmthread.IntervalRef) bool {
	at := g.laneOf(ref.Thread)
	index := g.index(at, ref.Seq)
	return index >= 0 && g.IdleAt(int(at), int(index))
}

// IdleAt is Idle for the interval at an index of a lane. The lane is numbered by the order of AddLane calls, none of which may have been
// skipped.
func (g *Graph) IdleAt(lane, index int) bool {
	n := &g.nodes[int(g.lanes[lane].base)+index]
	switch n.state {
	case jvmthread.StateWaiting, jvmthread.StateJoining, jvmthread.StateParked:
		return n.flags&onPath == 0
	}
	return false
}
