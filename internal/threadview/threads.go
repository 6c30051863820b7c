// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadview

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
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
	out := viewapi.Threads{From: q.rel(q.from), To: q.rel(q.to), Version: q.sn.Version, Total: len(rows), Offset: q.page.offset, Sum: sum}
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
func (q *query) threadRows(sel selection) (rows []viewapi.ThreadRow, sum viewapi.ThreadSum) {
	rows = make([]viewapi.ThreadRow, 0, len(sel.list))
	sum.States = make([]viewapi.StateTime, jvmthread.NumStates)
	if q.wrong != nil {
		return rows, sum
	}
	for _, i := range sel.list {
		row := viewapi.ThreadRow{Thread: q.thread(i)}
		row.States = make([]viewapi.StateTime, jvmthread.NumStates)
		c := q.sn.Walk(i, q.from, q.to)
		for c.Next() {
			st := &row.States[c.State]
			if c.Start >= q.from {
				st.Count++
			}
			st.Time += q.clip(c.Start, c.End)
		}
		finish(&row.ThreadSum)
		for s := range row.States {
			sum.States[s].Count += row.States[s].Count
			sum.States[s].Time += row.States[s].Time
		}
		rows = append(rows, row)
	}
	finish(&sum)
	slices.SortFunc(rows, func(a, b viewapi.ThreadRow) int { return compare(a.ID, b.ID) })
	return rows, sum
}

// finish adds up states.
func finish(s *viewapi.ThreadSum) {
	s.Blocked = s.States[jvmthread.StateBlocked]
	s.Blocked.Time += s.States[jvmthread.StateDeadlocked].Time // which goes on with a wait that is counted
	s.Waited = s.States[jvmthread.StateWaiting]
	s.Time = 0
	for st := range s.States {
		if jvmthread.State(st) != jvmthread.StateDead {
			s.Time += s.States[st].Time
		}
	}
}

func (q *query) thread(i int) viewapi.Thread {
	t := &q.sn.Threads[i]
	return viewapi.Thread{
		ID: uint64(t.ID), Name: wording.ThreadName(t.Name, t.ID), Group: t.Group, Pool: q.sn.Pools()[i], Daemon: t.Daemon, Virtual: t.Virtual,
		From: q.rel(t.First), To: q.rel(t.Last), Dead: t.Dead,
	}
}
