// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// threads returns the table of threads.
func (q *query) threads() (any, *Problem) {
	sel := q.selected()
	q.paged(500, 500)
	order := ordered[viewapi.ThreadRow](q.params, "name")
	if p := q.done(); p != nil {
		return nil, p
	}
	rows, sum := q.threadRows(sel)
	order(rows)
	out := viewapi.Threads{From: q.rel(q.from), To: q.rel(q.to), Version: q.sn.Version, Total: len(rows), Offset: q.page.offset, Sum: sum}
	out.Threads = piece(rows, q.page)
	out.Groups, out.Pools = q.groups()
	return out, nil
}

// maxNames bounds the groups and pools that are listed.
const maxNames = 500

func (q *query) groups() (groups, pools []string) {
	groupSet, poolSet := map[string]struct{}{}, map[string]struct{}{}
	names := q.sn.Pools()
	for i := range q.sn.Threads {
		if t := &q.sn.Threads[i]; t.Known {
			groupSet[t.Group], poolSet[names[i]] = struct{}{}, struct{}{}
		}
	}
	tidy := func(set map[string]struct{}) []string {
		delete(set, "")
		list := slices.AppendSeq(make([]string, 0, len(set)), maps.Keys(set))
		slices.Sort(list)
		return list[:min(len(list), maxNames)]
	}
	return tidy(groupSet), tidy(poolSet)
}

// threadTally is the sums of a thread.
type threadTally struct {
	states  [jvmthread.NumStates]viewapi.StateTime
	blocked viewapi.StateTime // contended waits
	idle    viewapi.StateTime // see store.StateIdle
	io      viewapi.StateTime // see store.StateIO
}

// add adds intervals of a state, of which begun do not continue a wait.
func (t *threadTally) add(s, shown jvmthread.State, contended bool, count, begun, time int64) {
	add(&t.states[s], count, time)
	if contended {
		add(&t.blocked, begun, time)
	}
	switch shown {
	case store.StateIdle:
		add(&t.idle, count, time)
	case store.StateIO:
		add(&t.io, count, time)
	}
}

// threadRows returns the rows of threads by id, and their sum.
func (q *query) threadRows(sel selection) (rows []viewapi.ThreadRow, sum viewapi.ThreadSum) {
	rows = make([]viewapi.ThreadRow, 0, len(sel.list))
	var whole threadTally
	row := make([]int32, len(q.sn.Threads)) // by thread, if selected
	for at, i := range sel.list {
		row[i] = int32(at)
	}
	all := make([]threadTally, len(sel.list))
	q.tally(sel, func(thread int) *threadTally { return &all[row[thread]] })
	for at, i := range sel.list {
		one := viewapi.ThreadRow{Thread: q.thread(i), ThreadSum: all[at].sum()}
		one.OnlyIdle = one.Idle.Time > 0 && one.Blocked == viewapi.StateTime{} && one.Time-one.Idle.Time <= one.Time/jvmthread.IdleShare
		rows = append(rows, one)
		whole.merge(&all[at])
	}
	slices.SortFunc(rows, func(a, b viewapi.ThreadRow) int { return cmp.Compare(a.ID, b.ID) })
	return rows, whole.sum()
}

// tally adds up the intervals of the selected threads, each in the sums that of returns for its thread.
func (q *query) tally(sel selection, of func(thread int) *threadTally) {
	everyone := selection{all: true, has: sel.has} // these sums are by thread
	q.sums(everyone, func(*store.Rollup) bool { return true }, func(r *store.Rollup) {
		for i := range r.Threads {
			if t := &r.Threads[i]; sel.has[t.Thread] {
				of(int(t.Thread)).add(t.State, t.Shown, t.Contended, int64(t.Count), int64(t.Begun), t.Time)
			}
		}
	}, func(c *store.Cursor) {
		t := of(c.Thread())
		for c.Next() {
			count, time := q.share(c)
			t.add(c.State, c.Shown(), c.Wait().Contended(), count, q.begun(c, count), time)
		}
	})
}

func (t *threadTally) merge(o *threadTally) {
	for s, st := range o.states {
		add(&t.states[s], st.Count, st.Time)
	}
	add(&t.blocked, o.blocked.Count, o.blocked.Time)
	add(&t.idle, o.idle.Count, o.idle.Time)
	add(&t.io, o.io.Count, o.io.Time)
}

// sum adds up states.
func (t *threadTally) sum() viewapi.ThreadSum {
	s := viewapi.ThreadSum{States: t.states[:], Blocked: t.blocked, Waited: t.states[jvmthread.StateWaiting], Idle: t.idle, IO: t.io}
	for st := range s.States {
		if jvmthread.State(st) != jvmthread.StateDead {
			s.Time += s.States[st].Time
		}
	}
	return s
}

func (q *query) thread(i int) viewapi.Thread {
	t := &q.sn.Threads[i]
	return viewapi.Thread{
		ID: uint64(t.ID), Name: q.sn.ThreadName(i), Group: t.Group, Pool: q.sn.Pools()[i], Daemon: t.Daemon, Virtual: t.Virtual, VirtualGroup: q.sn.VirtualGroups().Name(i),
		JVM: jvmthread.Thread{Name: t.Name, Group: t.Group}.OfJVM(), From: q.rel(t.First), To: q.rel(t.Last), Dead: t.Dead,
	}
}
