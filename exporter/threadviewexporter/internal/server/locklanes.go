// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/jvmthread"
)

const (
	maxConvoys  = 200  // of all lanes of one answer
	maxHandoffs = 1000 // of all lanes of one answer
)

// lockLanes answers a picture of locks.
func (q *query) lockLanes() (any, *Problem) {
	sel, wanted := q.selected(), q.lockFilter()
	width := q.number("width", 1000, 1, 4000)
	q.paged(20, 50)
	if p := q.done(); p != nil {
		return nil, p
	}
	rows := q.lockRows(sel, wanted)
	slices.SortStableFunc(rows, func(a, b api.LockRow) int {
		return compare(b.Blocked.Time+b.Parked.Time, a.Blocked.Time+a.Parked.Time)
	})
	out := api.LockLanes{From: q.rel(q.from), To: q.rel(q.to), Total: len(rows), Lanes: []api.LockLane{}}
	out.Step = max(1, (int64(q.to-q.from)+width-1)/width)
	rows = piece(rows, q.page)
	byLock := make(map[store.LockIndex]*lockLists, len(rows))
	for i := range rows {
		byLock[store.LockIndex(rows[i].Lock.ID)] = &lockLists{}
	}
	q.lists(sel, byLock)
	for {
		out.Steps = int((int64(q.to-q.from) + out.Step - 1) / out.Step)
		seen := make([]bool, len(q.sn.Threads))
		out.Lanes = out.Lanes[:0]
		room := 0
		for i := range rows {
			lane := q.lockLane(byLock[store.LockIndex(rows[i].Lock.ID)], rows[i], out.Step, max(1, maxHandoffs/len(rows)), max(3, maxConvoys/len(rows)), seen)
			room += 300 + 110*len(lane.Holds) + 24*len(lane.Queue) + 70*len(lane.Handoffs) + 150*len(lane.Convoys)
			out.Lanes = append(out.Lanes, lane)
		}
		out.Threads = q.refs(seen)
		if room += 60 * len(out.Threads); room <= maxAnswer || out.Steps <= 8 {
			return out, nil
		}
		out.Step *= int64(max(2, room/maxAnswer))
	}
}

func (q *query) lockLane(t *lockLists, row api.LockRow, step int64, handoffs, convoys int, seen []bool) api.LockLane {
	lane := api.LockLane{
		Row: row, Holds: q.holdRuns(t.holds, step, seen), Queue: queueSteps(t.queue, step), Handoffs: []api.Handoff{}, Convoys: q.convoys(t, convoys),
	}
	s := sieve{from: q.from, to: q.to, slots: handoffs}
	for _, e := range t.handoffs {
		s.add(e)
	}
	list := s.pick(handoffs)[jvmthread.InteractionHandoff]
	lane.Hidden = len(t.handoffs) - len(list)
	for _, e := range list {
		h := api.Handoff{Time: q.rel(e.Effect), From: uint64(q.sn.Threads[e.From].ID), To: uint64(q.sn.Threads[e.To].ID)}
		if iv, ok := q.sn.Numbered(e.To, e.ToSeq, e.Effect); ok {
			h.Wait = int64(iv.End - iv.Start)
		}
		seen[e.From], seen[e.To] = true, true
		lane.Handoffs = append(lane.Handoffs, h)
	}
	return lane
}

// holdRuns joins neighbours that are shorter than a step.
func (q *query) holdRuns(list []store.Hold, step int64, seen []bool) []api.HoldRun {
	out := []api.HoldRun{}
	times := map[int]int64{} // by thread, of those joined in the last run
	best := 0                // the thread with most of it
	small := false           // the last run is made of short ones
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
				best, last.Thread = h.Thread, uint64(q.sn.Threads[h.Thread].ID)
			}
			continue
		}
		small = length < step
		clear(times)
		times[h.Thread], best = length, h.Thread
		out = append(out, api.HoldRun{
			From: q.rel(start), To: q.rel(end), Thread: uint64(q.sn.Threads[h.Thread].ID), Holds: 1, Threads: 1, Time: length, Marks: int(h.Marks),
		})
	}
	for i := range out {
		seen[q.sn.Thread(jvmthread.ThreadID(out[i].Thread))] = true
	}
	return out
}

// queueSteps says, for the steps at which it changes, how many threads were queued at most.
func queueSteps(turns []interaction.Turn, step int64) []api.QueueStep {
	out := []api.QueueStep{}
	put := func(at, n int) {
		if k := len(out); k > 0 && out[k-1].Threads == n || k == 0 && n == 0 {
			return
		}
		out = append(out, api.QueueStep{Step: at, Threads: n})
	}
	var queue interaction.Crowd // the peak is that of the step
	at := 0
	for _, t := range turns {
		if i := int(int64(t.Time()) / step); i > at {
			put(at, int(queue.Peak))
			if i > at+1 {
				put(at+1, int(queue.Now))
			}
			at, queue.Peak = i, queue.Now
		}
		queue.Apply(t)
	}
	put(at, int(queue.Peak))
	if len(turns) > 0 {
		put(at+1, int(queue.Now))
	}
	return out
}
