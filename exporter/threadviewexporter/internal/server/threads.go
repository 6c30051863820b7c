// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wording"
)

// threads answers the table of threads.
func (q *query) threads() (any, *Problem) {
	sel := q.selected()
	q.paged(500, 500)
	rows, sum := q.threadRows(sel)
	sorted(q.params, rows, "name")
	if p := q.done(); p != nil {
		return nil, p
	}
	out := api.Threads{From: q.rel(q.from), To: q.rel(q.to), Version: q.sn.Version, Total: len(rows), Offset: q.page.offset, Sum: sum}
	out.Threads = piece(rows, q.page)
	out.Groups, out.Pools = q.groups()
	return out, nil
}

// maxNames bounds the groups and pools that are listed.
const maxNames = 500

func (q *query) groups() (groups, pools []string) {
	groups, pools = []string{}, []string{}
	names := q.sn.Pools()
	for i := range q.sn.Threads {
		if t := &q.sn.Threads[i]; t.Known {
			groups = append(groups, t.Group)
			pools = append(pools, names[i])
		}
	}
	tidy := func(list []string) []string {
		slices.Sort(list)
		list = slices.DeleteFunc(slices.Compact(list), func(s string) bool { return s == "" })
		return list[:min(len(list), maxNames)]
	}
	return tidy(groups), tidy(pools)
}

// threadRows returns the rows of threads in the order of their ids, and what they sum up to.
func (q *query) threadRows(sel selection) (rows []api.ThreadRow, sum api.ThreadSum) {
	rows = make([]api.ThreadRow, 0, len(sel.list))
	whole := newThreadTally()
	if q.wrong != nil {
		return rows, whole.sum()
	}
	all := q.threadTallies(sel)
	for _, i := range sel.list {
		rows = append(rows, api.ThreadRow{Thread: q.thread(i), ThreadSum: all[i].sum()})
		for s, st := range all[i].states {
			whole.states[s].Count += st.Count
			whole.states[s].Time += st.Time
		}
		whole.parked += all[i].parked
	}
	slices.SortFunc(rows, func(a, b api.ThreadRow) int { return compare(a.ID, b.ID) })
	return rows, whole.sum()
}

// threadTally is the sums of a thread.
type threadTally struct {
	states []api.StateTime
	parked int64 // time of the deadlocks that were parks before
}

func newThreadTally() threadTally {
	return threadTally{states: make([]api.StateTime, jvmthread.NumStates)}
}

func (t *threadTally) add(s jvmthread.State, parked bool, count, time int64) {
	t.states[s].Count += count
	t.states[s].Time += time
	if parked {
		t.parked += time
	}
}

// threadTallies adds up the intervals of threads, by index.
func (q *query) threadTallies(sel selection) []threadTally {
	all := make([]threadTally, len(q.sn.Threads))
	for _, i := range sel.list {
		all[i] = newThreadTally()
	}
	cover := q.cover(selection{all: true}, func(*store.Rollup) bool { return true })
	for _, rollup := range cover.Rollups {
		for i := range rollup.Threads {
			if t := &rollup.Threads[i]; sel.has[t.Thread] {
				all[t.Thread].add(t.State, t.Parked, int64(t.Count), t.Time)
			}
		}
		rollup.Early(q.from, func(iv *store.Interval) {
			if sel.has[iv.Thread] {
				all[iv.Thread].add(iv.State, iv.Parked, -1, -int64(q.from-iv.Start))
			}
		})
	}
	for _, i := range sel.list {
		c := q.sn.Beside(i, q.from, q.to, &cover)
		for c.Next() {
			count := int64(0)
			if c.Start >= q.from {
				count = 1
			}
			parked := c.State == jvmthread.StateDeadlocked && c.As() == jvmthread.StateParked
			all[i].add(c.State, parked, count, q.clip(c.Start, c.End))
		}
	}
	return all
}

// sum adds up states.
func (t *threadTally) sum() api.ThreadSum {
	s := api.ThreadSum{States: t.states, Blocked: t.states[jvmthread.StateBlocked], Waited: t.states[jvmthread.StateWaiting]}
	s.Blocked.Time += t.states[jvmthread.StateDeadlocked].Time - t.parked // which goes on with a wait that is counted
	for st := range s.States {
		if jvmthread.State(st) != jvmthread.StateDead {
			s.Time += s.States[st].Time
		}
	}
	return s
}

func (q *query) thread(i int) api.Thread {
	t := &q.sn.Threads[i]
	return api.Thread{
		ID: uint64(t.ID), Name: wording.ThreadName(t.Name, t.ID), Group: t.Group, Pool: q.sn.Pools()[i], Daemon: t.Daemon, Virtual: t.Virtual,
		From: q.rel(t.First), To: q.rel(t.Last), Dead: t.Dead,
	}
}
