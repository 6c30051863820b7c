// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/compare"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

const (
	maxFlameNodes  = 1 << 19 // of both trees before the small ones are folded
	maxFlameFrames = 256     // of a stack
)

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
	path     []int32 // reused
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

// flameStack is a stack with its sum.
type flameStack struct {
	tree  int
	lock  int32
	stack store.StackID
	first []int32 // nodes before those of the frames
	bare  bool    // the stack is not recorded, which is not worth a node
	sum   viewapi.StateTime
	most  flameMost
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
	stacks := g.waiters(f, locks, when)
	stacks = append(stacks, g.holders(f, locks, when)...)
	slices.SortFunc(stacks, func(a, b flameStack) int {
		return cmp.Or(cmp.Compare(b.sum.Time, a.sum.Time), cmp.Compare(a.tree, b.tree), cmp.Compare(a.lock, b.lock), cmp.Compare(a.stack, b.stack), slices.Compare(a.first, b.first))
	})
	known := map[store.StackID][]int32{}
	for i := range stacks {
		s := &stacks[i]
		frames, ok := known[s.stack]
		if !ok && s.stack != 0 {
			frames = g.frames(f.q.sn, s.stack)
			known[s.stack] = frames
		}
		g.insert(s, frames, when)
	}
}

func (g *flameGraph) waiters(f *flames, locks []int32, when int) (out []flameStack) {
	for at, lock := range f.at {
		t := f.waiters[at]
		l := &g.locks[locks[lock]]
		sum := viewapi.StateTime{Count: t.Count, Time: t.Time}
		add(&l.sum[when], sum.Count, sum.Time)
		s := flameStack{tree: waiterTree, lock: locks[lock], stack: at.stack, sum: sum}
		if iv := &t.longest; iv.Seq != 0 && when == after {
			s.most = flameMost{length: iv.Waited(), thread: iv.Thread, seq: iv.Seq, at: iv.Start}
			w := waits{longest: l.longest}
			w.longer(iv)
			l.longest = w.longest
		}
		out = append(out, s)
	}
	return out
}

func (g *flameGraph) holders(f *flames, locks []int32, when int) (out []flameStack) {
	for d, h := range f.holders {
		s := flameStack{tree: holderTree, lock: locks[d.lock], stack: d.stack, sum: h.StateTime}
		switch {
		case !d.known:
			s.first, s.bare = []int32{viewapi.FlameNoHolder}, true
		case d.taken:
			s.first = []int32{viewapi.FlameTaken}
		default:
			s.first, s.bare = []int32{viewapi.FlameState - int32(d.state)}, d.state == jvmthread.StateUnknown
		}
		if when == after && d.known {
			s.most = flameMost{length: jvmthread.Time(h.longest), thread: h.thread, at: h.when}
		}
		out = append(out, s)
	}
	return out
}

// frames returns the names of the methods of a stack, from the one of the application that waits to the outermost.
func (g *flameGraph) frames(sn *store.Snapshot, id store.StackID) (out []int32) {
	skip := sn.Site(id).Frame
	n := 0
	for line := range strings.SplitSeq(symbols.Text(sn.Stacks[id]), "\n") {
		function, ok := symbols.FunctionOf(line)
		switch {
		case line == symbols.Truncated || len(out) == maxFlameFrames:
			return append(out, viewapi.FlameTruncated)
		case ok && n >= skip:
			out = append(out, g.names.of(function))
		}
		n++
	}
	return out
}

// insert adds a stack to its tree.
func (g *flameGraph) insert(s *flameStack, frames []int32, when int) {
	t := &g.trees[s.tree]
	path := append(append(g.path[:0], s.first...), frames...)
	g.path = path
	switch {
	case g.nodes+len(path) > maxFlameNodes:
		path = append(path[:0], viewapi.FlameOthers)
		g.dropped++
	case len(frames) == 0 && !s.bare:
		path = append(path, viewapi.FlameNoStack)
	}
	at := -1 - s.lock
	for _, name := range path {
		k := flameChild{at, name}
		node, ok := t.child[k.number()]
		if !ok {
			node = int32(len(t.nodes))
			t.nodes = append(t.nodes, flameNode{flameChild: k})
			t.child[k.number()] = node
			g.nodes++
		}
		n := &t.nodes[node]
		add(&n.sum[when], s.sum.Count, s.sum.Time)
		n.most.longer(&s.most)
		at = node
	}
}

// weight is the size by which a lock or a node is shown or folded: the larger one of both ranges, in the units of the first.
func (g *flameGraph) weight(sum *[numRanges]viewapi.StateTime) float64 {
	w := float64(sum[after].Time)
	if g.compared != nil {
		w = math.Max(w, float64(sum[earlier].Time)*g.compared.Scale())
	}
	return w
}
