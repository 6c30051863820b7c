// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/viewapi"
)

// What an answer may have: its lists of numbers and texts must stay below maxAnswer.
const (
	flameBytes     = 180_000
	flameNodeBytes = 48 // of numbers for a node and for what it folds, as measured
	flameMoreBytes = 20 // of those for a baseline
	flameLockBytes = 420
)

// flameItem is a lock, or a node of a tree.
type flameItem struct {
	weight float64
	tree   int8 // -1: a lock
	index  int32
}

// kept is what an answer shows, and where.
type kept struct {
	locks []bool
	nodes [numTrees][]bool
	count int // nodes
}

// keep chooses the largest locks and nodes. Each comes after its parent, which is at least as large.
func (g *flameGraph) keep(width int64, limit int) *kept {
	all := g.all()
	var items []flameItem
	offer := func(sum *[numRanges]viewapi.StateTime, tree, index int) {
		if w := g.weight(sum); w*float64(width) >= all {
			items = append(items, flameItem{w, int8(tree), int32(index)})
		}
	}
	for i := range g.locks {
		offer(&g.locks[i].sum, -1, i)
	}
	for t := range g.trees {
		for i := range g.trees[t].nodes {
			if n := &g.trees[t].nodes[i]; n.name != viewapi.FlameOthers { // write adds it to the others
				offer(&n.sum, t, i)
			}
		}
	}
	slices.SortFunc(items, func(a, b flameItem) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.tree, b.tree), cmp.Compare(a.index, b.index))
	})
	k := &kept{locks: make([]bool, len(g.locks))}
	for t := range g.trees {
		k.nodes[t] = make([]bool, len(g.trees[t].nodes))
	}
	named := make([]bool, len(g.names.list))
	perNode := flameNodeBytes
	if g.compared != nil {
		perNode += flameMoreBytes
	}
	left := flameBytes
	for _, it := range items {
		if limit == 0 {
			break
		}
		bytes := perNode
		if it.tree < 0 {
			l := &g.locks[it.index]
			bytes = flameLockBytes + len(l.name) + len(l.class) + numTrees*perNode
		} else {
			n := &g.trees[it.tree].nodes[it.index]
			if n.parent < 0 && !k.locks[-1-n.parent] || n.parent >= 0 && !k.nodes[it.tree][n.parent] {
				continue // its parent did not fit
			}
			if n.name >= 0 && !named[n.name] {
				named[n.name] = true
				bytes += len(g.names.list[n.name]) + len(`"",`)
			}
		}
		if left -= bytes; left < 0 {
			break
		}
		limit--
		if it.tree < 0 {
			k.locks[it.index] = true
		} else {
			k.nodes[it.tree][it.index] = true
			k.count++
		}
	}
	return k
}
