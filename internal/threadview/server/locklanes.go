// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

const (
	maxConvoys       = 200  // of all lanes of an answer
	maxHandoffs      = 1000 // of all lanes of an answer
	maxConvoyThreads = 9
)

// lockLanes returns lanes of locks.
func (q *query) lockLanes() (any, *Problem) {
	sel, wanted := q.selected(), q.lockFilter()
	width := q.number("width", 1000, 1, 4000)
	contended := q.choice("contended", "false", "true") == "true"
	perName, keep := q.number("per_name", 0, 1, 50), q.number("keep", 0, 0, 1<<32)
	q.paged(20, 50)
	if p := q.done(); p != nil {
		return nil, p
	}
	rows := q.lockRows(sel, wanted)
	kept := func(r *viewapi.LockRow) bool { return int64(r.Lock.ID) == keep }
	if contended {
		rows = slices.DeleteFunc(rows, func(r viewapi.LockRow) bool { return r.Blocked == (viewapi.StateTime{}) && !kept(&r) })
	}
	names := lockNames(rows)
	slices.SortStableFunc(rows, func(a, b viewapi.LockRow) int {
		together := 0
		if perName > 0 {
			x, y := nameOfLock(&a), nameOfLock(&b)
			together = cmp.Or(cmp.Compare(names[y].Time, names[x].Time), cmp.Compare(x.name, y.name), cmp.Compare(x.class, y.class))
		}
		return cmp.Or(together, cmp.Compare(b.Blocked.Time, a.Blocked.Time), cmp.Compare(b.Parked.Time, a.Parked.Time))
	})
	if perName > 0 {
		shown := map[lockKey]int64{}
		rows = slices.DeleteFunc(rows, func(r viewapi.LockRow) bool {
			k := nameOfLock(&r)
			shown[k]++
			return shown[k] > perName && !kept(&r)
		})
	}
	out := viewapi.LockLanes{From: q.rel(q.from), To: q.rel(q.to), Total: len(rows), Lanes: []viewapi.LockLane{}}
	out.Step = max(1, (int64(q.to-q.from)+width-1)/width)
	rows = piece(rows, q.page)
	lists := q.lockLists(sel, rows)
	for {
		out.Steps = q.steps(out.Step)
		seen := make([]bool, len(q.sn.Threads))
		out.Lanes = out.Lanes[:0]
		room := 0
		for i := range rows {
			lane := q.lockLane(&lists[i], rows[i], out.Step, max(1, maxHandoffs/len(rows)), max(3, maxConvoys/len(rows)), seen)
			lane.Namesakes = *names[nameOfLock(&rows[i])]
			room += 340 + 110*len(lane.Holds) + 24*len(lane.Queue) + 70*len(lane.Handoffs) + 150*len(lane.Convoys)
			out.Lanes = append(out.Lanes, lane)
		}
		out.Threads = q.refs(seen)
		if room += 60 * len(out.Threads); room <= maxAnswer || out.Steps <= 8 {
			return out, nil
		}
		out.Step *= int64(max(2, room/maxAnswer))
	}
}

// nameOfLock is what users see as the same lock. A pool is one, whatever the classes it uses to wait.
func nameOfLock(r *viewapi.LockRow) lockKey {
	if r.Kind == jvmthread.WaitPool.String() && r.Name != "" {
		return lockKey{name: r.Name}
	}
	return lockKey{r.Lock.Class, r.Name}
}

// lockNames adds up the locks by name.
func lockNames(rows []viewapi.LockRow) map[lockKey]*viewapi.Namesakes {
	names := map[lockKey]*viewapi.Namesakes{}
	for i := range rows {
		k := nameOfLock(&rows[i])
		if names[k] == nil {
			names[k] = &viewapi.Namesakes{}
		}
		names[k].Locks++
		names[k].Time += rows[i].Blocked.Time
	}
	return names
}

// lockLists is what happened to one lock over the range.
type lockLists struct {
	handoffs []store.Edge // by effect
	holds    []store.Hold // by start
	queue    []interaction.Turn
}

// lockLists gathers what happened to the locks of rows.
func (q *query) lockLists(sel selection, rows []viewapi.LockRow) []lockLists {
	lists := make([]lockLists, len(rows))
	byLock := make([]*lockLists, len(q.sn.Locks))
	for i := range rows {
		byLock[rows[i].Lock.ID] = &lists[i]
	}
	q.turns(sel, q.from, q.to, func(l store.LockIndex) *[]interaction.Turn {
		if t := byLock[l]; t != nil {
			return &t.queue
		}
		return nil
	})
	q.sn.Edges(q.from, q.to, func(e store.Edge) bool {
		if t := byLock[e.Lock]; t != nil && e.Kind == jvmthread.InteractionHandoff && sel.has[e.To] {
			t.handoffs = append(t.handoffs, e)
		}
		return true
	})
	q.sn.Holds(q.from, q.to, func(h store.Hold) bool {
		if t := byLock[h.Lock]; t != nil {
			t.holds = append(t.holds, h)
		}
		return true
	})
	byStart := func(a, b store.Hold) int { return cmp.Compare(a.Start, b.Start) }
	for i := range lists {
		slices.Sort(lists[i].queue)
		if !slices.IsSortedFunc(lists[i].holds, byStart) {
			slices.SortStableFunc(lists[i].holds, byStart)
		}
	}
	return lists
}

func (q *query) lockLane(t *lockLists, row viewapi.LockRow, step int64, handoffs, convoys int, seen []bool) viewapi.LockLane {
	lane := viewapi.LockLane{
		Row: row, Holds: q.holdRuns(t.holds, step, seen), Queue: queueSteps(t.queue, step), Handoffs: []viewapi.Handoff{}, Convoys: q.convoys(t, convoys),
	}
	s := sieve{from: q.from, to: q.to, slots: handoffs}
	for _, e := range t.handoffs {
		s.add(e)
	}
	list := s.pick(handoffs)[jvmthread.InteractionHandoff]
	lane.Hidden = len(t.handoffs) - len(list)
	for _, e := range list {
		h := viewapi.Handoff{Time: q.rel(e.Effect), From: q.id(e.From), To: q.id(e.To)}
		if iv, ok := q.sn.Numbered(e.To, e.ToSeq, e.Effect); ok {
			h.Wait = int64(iv.End - iv.Start)
		}
		seen[e.From], seen[e.To] = true, true
		lane.Handoffs = append(lane.Handoffs, h)
	}
	return lane
}

// convoys returns the longest handoff runs.
func (q *query) convoys(t *lockLists, most int) []viewapi.Convoy {
	out := []viewapi.Convoy{}
	var c viewapi.Convoy
	keep := func() {
		if c.Length > 1 {
			out = append(out, c)
		}
	}
	var runs interaction.HandoffRuns[int]
	for i := range t.handoffs {
		h := &t.handoffs[i]
		position := int(runs.Add(h.From, h.To))
		if position == 1 {
			keep()
			c = viewapi.Convoy{From: q.rel(h.Effect), Threads: []uint64{q.id(h.From)}}
		}
		c.Length, c.To = position, q.rel(h.Effect)
		if len(c.Threads) < maxConvoyThreads {
			c.Threads = append(c.Threads, q.id(h.To))
		}
	}
	keep()
	slices.SortStableFunc(out, func(a, b viewapi.Convoy) int { return cmp.Compare(b.Length, a.Length) })
	return out[:min(len(out), most)]
}

// holdRuns returns holds as runs, with neighbors joined that are shorter than a step.
func (q *query) holdRuns(list []store.Hold, step int64, seen []bool) []viewapi.HoldRun {
	if slices.ContainsFunc(list, isShared) {
		return q.sharedRuns(list, step, seen)
	}
	out := []viewapi.HoldRun{}
	times := map[int]int64{} // by thread, within the last run
	best := 0                // the thread with the most of it
	small := false           // the last run consists of short holds
	for i := range list {
		h := &list[i]
		start, end := max(h.Start, q.from), min(h.End, q.to)
		length := int64(end - start)
		if n := len(out); n > 0 && small && length < step && q.rel(end)-out[n-1].From < 2*step {
			last := &out[n-1]
			last.To, last.Holds, last.Marks = max(last.To, q.rel(end)), last.Holds+1, last.Marks|int(h.Marks)
			last.Time += length
			times[h.Thread] += length
			last.Threads = len(times)
			if times[h.Thread] > times[best] {
				best, last.Thread = h.Thread, q.id(h.Thread)
			}
			continue
		}
		small = length < step
		clear(times)
		times[h.Thread], best = length, h.Thread
		out = append(out, viewapi.HoldRun{
			From: q.rel(start), To: q.rel(end), Thread: q.id(h.Thread), Holds: 1, Threads: 1, Time: length, Marks: int(h.Marks),
		})
	}
	for i := range out {
		seen[q.sn.Thread(jvmthread.ThreadID(out[i].Thread))] = true
	}
	return out
}

// queueSteps returns the most threads queued in each step at which that number changes.
func queueSteps(turns []interaction.Turn, step int64) []viewapi.QueueStep {
	out := []viewapi.QueueStep{}
	put := func(at int, n int32) {
		if k := len(out); k > 0 && out[k-1].Threads == int(n) || k == 0 && n == 0 {
			return
		}
		out = append(out, viewapi.QueueStep{Step: at, Threads: int(n)})
	}
	var queue interaction.Crowd // with the peak of the step
	at := 0
	for _, t := range turns {
		if i := int(int64(t.Time()) / step); i > at {
			put(at, queue.Peak)
			if i > at+1 {
				put(at+1, queue.Now)
			}
			at, queue.Peak = i, queue.Now
		}
		queue.Apply(t)
	}
	put(at, queue.Peak)
	if len(turns) > 0 {
		put(at+1, queue.Now)
	}
	return out
}
