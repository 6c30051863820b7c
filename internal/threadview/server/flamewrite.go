// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/compare"
	"github.com/weft-otel/weft/internal/viewapi"
)

// write writes the locks and the trees, with those that are too small as others.
func (g *flameGraph) write(q *query, out *viewapi.Flame, width int64, limit int) {
	k := g.keep(width, limit)
	out.Names, out.Locks, out.Total, out.Folded = []string{}, []viewapi.FlameLock{}, len(g.locks), g.dropped
	order := make([]int32, len(g.locks))
	var sum [numRanges]viewapi.StateTime
	for i := range g.locks {
		order[i] = int32(i)
		merge(&sum, &g.locks[i].sum)
	}
	out.Sum, out.Before = sum[after], sum[earlier]
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &g.locks[a], &g.locks[b]
		return cmp.Or(cmp.Compare(g.weight(&y.sum), g.weight(&x.sum)), cmp.Compare(x.name, y.name), cmp.Compare(x.class, y.class))
	})
	at := make([]int, len(g.locks)) // in the answer
	var others flameLock
	folded := 0
	for _, i := range order {
		l := &g.locks[i]
		if !k.locks[i] {
			folded++
			merge(&others.sum, &l.sum)
			w := waits{longest: others.longest}
			w.longer(&l.longest)
			others.longest = w.longest
			at[i] = -1
			continue
		}
		at[i] = len(out.Locks)
		out.Locks = append(out.Locks, g.lock(q, l, 0))
	}
	if folded > 0 {
		for i := range at {
			if at[i] < 0 {
				at[i] = len(out.Locks)
			}
		}
		out.Locks = append(out.Locks, g.lock(q, &others, folded))
		out.Folded += folded
	}
	names := make([]int, len(g.names.list)) // in the answer, plus one
	for t, to := range []*viewapi.FlameTree{&out.Waiters, &out.Holders} {
		w := flameWriter{g: g, q: q, kept: k, tree: t, locks: at, names: names, out: out, to: to}
		w.write()
	}
}

func merge(to, from *[numRanges]viewapi.StateTime) {
	for i := range to {
		add(&to[i], from[i].Count, from[i].Time)
	}
}

func (g *flameGraph) lock(q *query, l *flameLock, folded int) viewapi.FlameLock {
	out := viewapi.FlameLock{Name: l.name, Class: l.class, Kind: l.kind.String(), Folded: folded, Sum: l.sum[after], Before: l.sum[earlier]}
	if folded > 0 {
		out.Kind = ""
	}
	if g.compared != nil {
		out.Verdict = string(g.compared.Judge(sumOf(out.Before), sumOf(out.Sum), len(g.locks)))
	}
	if l.longest.Seq != 0 {
		out.Longest = q.reference(&l.longest)
	}
	return out
}

// flameWriter writes one tree.
type flameWriter struct {
	g     *flameGraph
	q     *query
	kept  *kept
	tree  int
	locks []int // by lock, its index in the answer
	names []int // by name, its index in the answer plus one
	out   *viewapi.Flame
	to    *viewapi.FlameTree
}

// write writes the kept nodes of each lock, the largest first and others last, and each node before its children.
func (w *flameWriter) write() {
	*w.to = viewapi.FlameTree{
		Parent: []int{}, Name: []int{}, Time: []int64{}, Count: []int64{}, Thread: []uint64{}, Seq: []uint32{}, Before: []int64{}, Verdict: []int{},
	}
	nodes := w.g.trees[w.tree].nodes
	children := map[int32][]int32{}
	others := map[int32]*flameNode{}
	for i := range nodes {
		n := &nodes[i]
		parent := n.parent
		if parent < 0 {
			parent = -1 - int32(w.locks[-1-parent]) // a folded lock has those of all of them
		}
		switch {
		case w.kept.nodes[w.tree][i]:
			children[parent] = append(children[parent], int32(i))
			continue
		case n.parent >= 0 && !w.kept.nodes[w.tree][n.parent]: // it is in the sum of its parent
			w.out.Folded++
			continue
		}
		o := others[parent]
		if o == nil {
			o = &flameNode{flameChild: flameChild{parent, viewapi.FlameOthers}}
			others[parent] = o
		}
		merge(&o.sum, &n.sum)
		o.most.longer(&n.most)
		if n.name != viewapi.FlameOthers {
			w.out.Folded++
		}
	}
	for i := range w.out.Locks {
		w.under(-1-int32(i), -1-i, children, others)
	}
}

func (w *flameWriter) under(parent int32, to int, children map[int32][]int32, others map[int32]*flameNode) {
	nodes := w.g.trees[w.tree].nodes
	list := children[parent]
	slices.SortFunc(list, func(a, b int32) int {
		return cmp.Or(cmp.Compare(w.g.weight(&nodes[b].sum), w.g.weight(&nodes[a].sum)), cmp.Compare(a, b))
	})
	for _, i := range list {
		w.under(i, w.node(&nodes[i], to), children, others)
	}
	if o := others[parent]; o != nil {
		w.node(o, to)
	}
}

// node appends a node and returns its index.
func (w *flameWriter) node(n *flameNode, parent int) int {
	t := w.to
	name := int(n.name)
	if name >= 0 {
		if w.names[name] == 0 {
			w.out.Names = append(w.out.Names, w.g.names.list[name])
			w.names[name] = len(w.out.Names)
		}
		name = w.names[name] - 1
	}
	var thread uint64
	seq := uint32(n.most.seq)
	if i := n.most.thread; i != 0 {
		thread = w.q.id(i)
		if seq == 0 {
			if iv, ok := w.q.sn.At(i, n.most.at); ok {
				seq = uint32(iv.Seq)
			}
		}
	}
	t.Parent, t.Name, t.Thread, t.Seq = append(t.Parent, parent), append(t.Name, name), append(t.Thread, thread), append(t.Seq, seq)
	t.Time, t.Count = append(t.Time, n.sum[after].Time), append(t.Count, n.sum[after].Count)
	if c := w.g.compared; c != nil {
		verdict := c.Judge(sumOf(n.sum[earlier]), sumOf(n.sum[after]), w.kept.count)
		t.Before = append(t.Before, n.sum[earlier].Time)
		t.Verdict = append(t.Verdict, slices.Index(verdicts(), verdict))
	}
	return len(t.Parent) - 1
}

// verdicts are those of package compare in the order of viewapi.FlameVerdicts.
func verdicts() []compare.Verdict {
	return []compare.Verdict{compare.Same, compare.Worse, compare.Better, compare.New, compare.Gone}
}
