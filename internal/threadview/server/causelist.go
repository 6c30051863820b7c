// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

const (
	maxCauses  = 20 // in words: each takes a search for its holders
	trendSteps = 48
	maxRoutes  = 3 // of a cause, each with at least a hundredth of what requests waited
)

// causes returns what threads of the application waited for, the costliest first. The first one is what the answer is about.
func (q *query) causes() (any, *Problem) {
	sel := q.selected()
	q.paged(maxCauses, maxCauses)
	if p := q.done(); p != nil {
		return nil, p
	}
	found, open := q.contention(sel), q.openWaits()
	ranking := q.ranked(sel, q.candidates(sel, found))
	ranking = ranking[:min(len(ranking), q.page.limit)]
	out := viewapi.Causes{From: q.rel(q.from), To: q.rel(q.to), Step: max(1, (int64(q.to-q.from)+trendSteps-1)/trendSteps), Causes: []viewapi.CauseRow{}}
	var costs []*viewapi.Cost
	var shown []*contended
	for _, c := range q.costlies(sel, ranking) {
		if cost := q.cost(found, c, open); q.isSmall(cost.Time) {
			out.Small++
		} else {
			costs, shown = append(costs, cost), append(shown, c.contended)
		}
	}
	if len(costs) == 0 && !q.isDumped() {
		if cost, endless := q.lullCost(sel, open); endless {
			costs, shown = append(costs, cost), append(shown, q.lull(sel).contended)
		}
	}
	trends, routes := q.trends(sel, shown, out.Step), q.routes(sel, shown)
	for i, cost := range costs {
		name := wording.LockOf(cost.Name, cost.Caller)
		out.Causes = append(out.Causes, viewapi.CauseRow{
			Name: name, Class: cost.Class, Kind: cost.Kind, Text: wording.Cost(cost), Time: cost.Time, Threads: cost.Waiters, Stuck: cost.Stuck,
			Incidents: q.incidentsOf(cost.Name, name), Trend: trends[i], Routes: routes[i], Dumps: cost.Dumps,
		})
	}
	return out, nil
}

// incidentsOf counts the kept incidents of the range that are about a lock or a pool with one of some names.
func (q *query) incidentsOf(names ...string) (n int) {
	for _, inc := range q.sn.Incidents {
		if inc.Start < q.to && max(inc.End, inc.Start+1) > q.from && inc.Object != "" && slices.Contains(names, inc.Object) {
			n++
		}
	}
	return n
}

// trends returns how long threads waited for each of some things in each step of the range.
func (q *query) trends(sel selection, all []*contended, step int64) [][]int64 {
	out := make([][]int64, len(all))
	for i := range out {
		out[i] = make([]int64, (int64(q.to-q.from)+step-1)/step)
	}
	q.each(sel, all, func(i, _ int, from, to jvmthread.Time) {
		for from < to {
			at := int64(from-q.from) / step
			end := min(to, q.from+jvmthread.Time((at+1)*step))
			out[i][at] += int64(end - from)
			from = end
		}
	})
	return out
}

// routes returns in requests of which names threads waited for each of some things, the costliest names first.
func (q *query) routes(sel selection, all []*contended) [][]viewapi.Route {
	type part struct {
		from, to jvmthread.Time
		name     uint32
	}
	parts := map[int][]part{} // by thread, which does one at a time
	for _, r := range q.requestParts() {
		for i := range r.parts {
			p := &r.parts[i]
			parts[p.Thread] = append(parts[p.Thread], part{p.Start, p.End, r.name})
		}
	}
	for _, list := range parts {
		slices.SortFunc(list, func(a, b part) int { return cmp.Compare(a.from, b.from) })
	}
	times := make([]map[uint32]int64, len(all))
	q.each(sel, all, func(i, thread int, from, to jvmthread.Time) {
		list := parts[thread]
		at, _ := slices.BinarySearchFunc(list, from, func(p part, from jvmthread.Time) int { return cmp.Compare(p.to, from) })
		for ; at < len(list) && list[at].from < to; at++ {
			if time := min(to, list[at].to) - max(from, list[at].from); time > 0 {
				if times[i] == nil {
					times[i] = map[uint32]int64{}
				}
				times[i][list[at].name] += int64(time)
			}
		}
	})
	out := make([][]viewapi.Route, len(all))
	for i := range out {
		out[i] = []viewapi.Route{}
		sum := int64(0)
		for _, time := range times[i] {
			sum += time
		}
		for name, time := range times[i] {
			if time >= sum/leastPart {
				out[i] = append(out[i], viewapi.Route{Name: q.sn.Classes[name], Time: time})
			}
		}
		slices.SortFunc(out[i], func(a, b viewapi.Route) int { return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name)) })
		out[i] = out[i][:min(len(out[i]), maxRoutes)]
	}
	return out
}
