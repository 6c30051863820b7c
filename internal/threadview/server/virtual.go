// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// maxPools bounds the pools of an answer.
const maxPools = 100

// virtual returns the groups of virtual threads with their sums and, if steps are requested, with their states over time.
func (q *query) virtual() (any, *Problem) {
	return q.grouped(q.sn.VirtualGroups(), store.MaxVirtualGroups)
}

// pools returns the pools of platform threads in the same way.
func (q *query) pools() (any, *Problem) { return q.grouped(q.sn.PoolGroups(), maxPools) }

// grouped returns groups of threads, at most so many.
func (q *query) grouped(groups *store.Groups, most int64) (any, *Problem) {
	sel := q.selected()
	width := q.number("width", 0, 0, 2000)
	q.paged(most, most)
	order := ordered[viewapi.VirtualGroup](q.params, "name")
	if p := q.done(); p != nil {
		return nil, p
	}
	rows, number := q.groupRows(groups, sel)
	order(rows)
	out := viewapi.Virtual{From: q.rel(q.from), To: q.rel(q.to), Version: q.sn.Version, Total: len(rows), Offset: q.page.offset}
	out.Groups = piece(rows, q.page)
	if width == 0 {
		return out, nil
	}
	listed := make(map[string]int32, len(out.Groups))
	for i := range out.Groups {
		listed[out.Groups[i].Name] = int32(i)
	}
	for thread, g := range number {
		if g == store.NoGroup {
			continue
		}
		at, ok := listed[groups.Names[g]]
		if number[thread] = at; !ok {
			number[thread] = store.NoGroup
		}
	}
	for out.Step = (int64(q.to-q.from) + width - 1) / width; ; out.Step *= 2 {
		out.Steps = q.steps(out.Step)
		room := 0
		for i, times := range q.sn.Densities(q.from, q.to, jvmthread.Time(out.Step), number, len(out.Groups)) {
			out.Groups[i].OverTime = times
			room += 1500 + 6*len(out.Groups[i].Name)
			for _, list := range times {
				room += digits(list)
			}
		}
		if room <= maxAnswer || out.Steps <= 8 {
			return out, nil
		}
	}
}

// groupRows returns the groups that have selected threads, and the group of each selected thread.
func (q *query) groupRows(groups *store.Groups, sel selection) (rows []viewapi.VirtualGroup, number []int32) {
	number = slices.Repeat([]int32{store.NoGroup}, len(q.sn.Threads))
	all := make([]viewapi.VirtualGroup, len(groups.Names))
	sums := make([]threadTally, len(groups.Names))
	some := selection{has: make([]bool, len(sel.has))}
	for _, i := range sel.list {
		g := groups.Of[i]
		if g == store.NoGroup {
			continue
		}
		some.has[i], number[i] = true, g
		all[g].Threads++
		if !q.sn.Threads[i].Dead {
			all[g].Alive++
		}
	}
	q.tally(some, func(thread int) *threadTally { return &sums[number[thread]] })
	rows = []viewapi.VirtualGroup{}
	for g := range all {
		if all[g].Threads > 0 {
			all[g].Name, all[g].ThreadSum, all[g].OverTime = groups.Names[g], sums[g].sum(), [][]int64{}
			rows = append(rows, all[g])
		}
	}
	return rows, number
}

// members returns the virtual ones of some threads, by group.
func (q *query) members(seen []bool) []viewapi.Members {
	groups := q.sn.VirtualGroups()
	by := make([][]uint64, len(groups.Names))
	for i, ok := range seen {
		if g := groups.Of[i]; ok && g != store.NoGroup {
			by[g] = append(by[g], q.id(i))
		}
	}
	out := []viewapi.Members{}
	for g, ids := range by {
		if slices.Sort(ids); len(ids) > 0 {
			out = append(out, viewapi.Members{Group: groups.Names[g], Threads: ids})
		}
	}
	return out
}
