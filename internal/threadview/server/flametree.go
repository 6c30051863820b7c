// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"math"
	"slices"

	"github.com/weft-otel/weft/internal/compare"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

const maxFlameNodes = 1 << 19 // of both trees before the small ones are folded

// The trees of a flame graph.
const (
	waiterTree = iota
	holderTree
	numTrees
)

// flameGraph is the trees of all locks, of one or two ranges.
type flameGraph struct {
	compared *compare.Comparison // nil: of one range
	index    map[lockKey]int32
	locks    []flameLock
	trees    [numTrees]flameTree
	names    texts
	stacks   []flameStack
	nodes    int
	dropped  int // stacks that are beyond the limit, in nodes of others
}

type flameLock struct {
	lockKey

	kind    jvmthread.Wait
	sum     [numRanges]viewapi.StateTime
	longest store.Interval
}

// texts numbers the names of methods.
type texts struct {
	list []string
	ids  map[string]int32 // also of generated classes with their numbers
}

func (t *texts) of(function string) int32 {
	id, ok := t.ids[function]
	if ok {
		return id
	}
	name := wording.StableFunction(function)
	if id, ok = t.ids[name]; !ok {
		id = int32(len(t.list))
		t.list, t.ids[name] = append(t.list, name), id
	}
	t.ids[function] = id
	return id
}

// flameTree is the frames of one kind of stacks. Parents come before their children.
type flameTree struct {
	nodes []flameNode
	child map[uint64]int32 // by number
}

// flameChild identifies a node: by its parent, or -1 minus its lock, and by its name.
type flameChild struct{ parent, name int32 }

func (c flameChild) number() uint64 { return uint64(uint32(c.parent))<<32 | uint64(uint32(c.name)) }

type flameNode struct {
	flameChild

	sum  [numRanges]viewapi.StateTime
	most flameMost
}

// flameMost is where to look.
type flameMost struct {
	length jvmthread.Time
	thread int
	seq    jvmthread.Seq
	at     jvmthread.Time // of a holder, a time in the interval; its number is found if the node is shown
}

func (m *flameMost) longer(o *flameMost) {
	if o.thread != 0 && (m.thread == 0 || cmp.Or(cmp.Compare(o.length, m.length), cmp.Compare(m.at, o.at), cmp.Compare(m.thread, o.thread)) > 0) {
		*m = *o
	}
}

func newFlameGraph() *flameGraph {
	g := &flameGraph{index: map[lockKey]int32{}, names: texts{ids: map[string]int32{}}}
	for i := range g.trees {
		g.trees[i].child = map[uint64]int32{}
	}
	return g
}

// add adds what a range has.
func (g *flameGraph) add(f *flames, when int) {
	locks := make([]int32, len(f.locks))
	for i, k := range f.locks {
		at, ok := g.index[k]
		if !ok {
			at = int32(len(g.locks))
			g.index[k] = at
			g.locks = append(g.locks, flameLock{lockKey: k, kind: f.kinds[i]})
		}
		locks[i] = at
	}
	first := len(g.stacks)
	g.waiters(f, locks, when)
	g.holders(f, locks, when)
	slices.SortFunc(g.stacks[first:], func(a, b flameStack) int { // maps have no order, and equal requests have equal answers
		return cmp.Or(cmp.Compare(a.tree, b.tree), cmp.Compare(a.lock, b.lock), cmp.Compare(a.stack, b.stack), cmp.Compare(a.first, b.first))
	})
}

func (g *flameGraph) waiters(f *flames, locks []int32, when int) {
	for at, lock := range f.at {
		t := f.waiters[at]
		l := &g.locks[locks[lock]]
		sum := viewapi.StateTime{Count: t.Count, Time: t.Time}
		add(&l.sum[when], sum.Count, sum.Time)
		s := newFlameStack(f.q.sn, at.stack, flameStack{tree: waiterTree, when: when, lock: locks[lock], sum: sum})
		if iv := &t.longest; iv.Seq != 0 && when == after {
			s.most = flameMost{length: iv.Waited(), thread: iv.Thread, seq: iv.Seq, at: iv.Start}
			w := waits{longest: l.longest}
			w.longer(iv)
			l.longest = w.longest
		}
		g.stacks = append(g.stacks, s)
	}
}

func (g *flameGraph) holders(f *flames, locks []int32, when int) {
	for d, h := range f.holders {
		s := flameStack{tree: holderTree, when: when, lock: locks[d.lock], sum: h.StateTime}
		switch {
		case !d.known:
			s.first, s.ended = viewapi.FlameNoHolder, true
		case d.taken:
			s.first = viewapi.FlameTaken
		default:
			s.first, s.ended = viewapi.FlameState-int32(d.state), d.state == jvmthread.StateUnknown
		}
		if when == after && d.known {
			s.most = flameMost{length: jvmthread.Time(h.longest), thread: h.thread, at: h.when}
		}
		g.stacks = append(g.stacks, newFlameStack(f.q.sn, d.stack, s))
	}
}

// build makes the trees, a row at a time. What is narrower than a pixel is not seen, so its callers are not needed.
func (g *flameGraph) build(width int64) {
	least := g.all() / float64(width)
	open := g.stacks
	for i := range open {
		open[i].at = -1 - open[i].lock
	}
	for len(open) > 0 {
		n := 0
		for i := range open {
			if g.grow(&open[i]) {
				open[n] = open[i]
				n++
			}
		}
		open = slices.DeleteFunc(open[:n], func(s flameStack) bool { return g.weight(&g.trees[s.tree].nodes[s.at].sum) < least })
	}
}

// grow adds the next node of a stack; false: it has no more.
func (g *flameGraph) grow(s *flameStack) bool {
	name, ok := s.next(&g.names)
	if !ok {
		return false
	}
	if g.nodes >= maxFlameNodes {
		name = viewapi.FlameOthers
		g.dropped++
	}
	t := &g.trees[s.tree]
	k := flameChild{s.at, name}
	node, ok := t.child[k.number()]
	if !ok {
		node = int32(len(t.nodes))
		t.nodes = append(t.nodes, flameNode{flameChild: k})
		t.child[k.number()] = node
		g.nodes++
	}
	n := &t.nodes[node]
	add(&n.sum[s.when], s.sum.Count, s.sum.Time)
	n.most.longer(&s.most)
	s.at = node
	return name != viewapi.FlameOthers
}

// all is the weight of all locks.
func (g *flameGraph) all() (sum float64) {
	for i := range g.locks {
		sum += g.weight(&g.locks[i].sum)
	}
	return sum
}

// weight is the size by which a lock or a node is shown or folded: the larger one of both ranges, in the units of the first.
func (g *flameGraph) weight(sum *[numRanges]viewapi.StateTime) float64 {
	w := float64(sum[after].Time)
	if g.compared != nil {
		w = math.Max(w, float64(sum[earlier].Time)*g.compared.Scale())
	}
	return w
}
