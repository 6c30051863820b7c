// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// endedWait is a wait that another thread ends: by completing a task, counting down, coming to a barrier, taking from a queue.
type endedWait struct {
	thread   int
	from, to jvmthread.Time // within the range
	end      jvmthread.Time
	open     bool           // it has not ended
	ender    int            // thread; 0: not known, or none
	cause    jvmthread.Time // when that did it
	resolved bool

	lock   store.LockIndex
	runner int           // thread that ran the task when the wait began; 0: none, or not known
	seq    jvmthread.Seq // of the interval in which the ender ended it; 0: it is known otherwise, or through another thread
}

// wakeup identifies the end of a wait.
type wakeup struct {
	thread int
	end    jvmthread.Time
}

// findEnders finds who ended waits of the range. Threads that wait for the same wake each other one after the other: who woke the first one ended
// the waits of all.
func (q *query) findEnders(list []endedWait) {
	byEnd, byThread := make(map[wakeup]int, len(list)), map[int][]int{}
	for i := range list {
		byEnd[wakeup{list[i].thread, list[i].end}] = i
		byThread[list[i].thread] = append(byThread[list[i].thread], i)
	}
	q.sn.Edges(q.from, q.to+1, func(e store.Edge) bool {
		if i, ok := byEnd[wakeup{e.To, e.Effect}]; ok && e.Kind != jvmthread.InteractionStart && e.Kind != jvmthread.InteractionInterrupt && !list[i].open {
			list[i].ender, list[i].cause, list[i].seq = e.From, e.Cause, e.FromSeq
		}
		return true
	})
	for _, own := range byThread {
		slices.SortFunc(own, func(a, b int) int { return cmp.Compare(list[a].end, list[b].end) })
	}
	var resolve func(i int) int
	resolve = func(i int) int {
		w := &list[i]
		if w.resolved || w.ender == 0 {
			return w.ender
		}
		w.resolved = true
		own := byThread[w.ender]
		at, _ := slices.BinarySearchFunc(own, w.cause, func(o int, t jvmthread.Time) int {
			if list[o].end <= t {
				return -1
			}
			return 1
		})
		if at == 0 {
			return w.ender
		}
		before := own[at-1]
		if b := &list[before]; b.end > w.from && !b.open && before != i {
			if of := resolve(before); of != 0 && of != w.thread {
				w.ender, w.seq = of, 0
			}
		}
		return w.ender
	}
	for i := range list {
		resolve(i)
	}
}

// enders returns who ended waits, as holders: in their parts, others waited for them.
func (q *query) enders(list []endedWait) (out []lockHolder) {
	by := map[int]*lockHolder{}
	for i := range list {
		w := &list[i]
		length := w.to - w.from
		if w.ender == 0 || length == 0 {
			continue
		}
		h := by[w.ender]
		if h == nil {
			h = &lockHolder{thread: w.ender}
			by[w.ender] = h
		}
		h.waited += length
		h.parts = append(h.parts, part{from: w.from, to: w.to, waits: waiting{{at: w.from, threads: 1}, {at: w.to, before: length}}})
	}
	for _, h := range by {
		h.held = covered(h.parts)
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b lockHolder) int {
		return cmp.Or(cmp.Compare(b.waited, a.waited), cmp.Compare(q.sn.Threads[a.thread].ID, q.sn.Threads[b.thread].ID))
	})
	return out
}

// covered returns the time that parts cover together.
func covered(parts []part) (sum jvmthread.Time) {
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var until jvmthread.Time
	for i := range parts {
		if from := max(parts[i].from, until); i == 0 || from < parts[i].to {
			if i == 0 {
				from = parts[i].from
			}
			sum += parts[i].to - from
			until = parts[i].to
		}
	}
	return sum
}

// costOfOthers returns who waited for what others bring about, and who brought it about.
func (q *query) costOfOthers(c *costly, open map[int]*openWait) *viewapi.Cost {
	w := c.waits
	q.findEnders(w.list)
	enders := q.enders(w.list)
	cost := &viewapi.Cost{CostRow: q.costRow(c.contended), Site: q.site(c.site), Holders: []viewapi.Holder{}}
	cost.Time, cost.Takes = int64(w.waited), c.kind == jvmthread.WaitQueue && !q.isForOthers(c.kind, c.site)
	if cost.Dumps = q.dumps(w, nil); cost.Dumps != nil {
		cost.Dumps.Meanwhile = q.meanwhile(c)
	}
	share := func(of jvmthread.Time) float64 { return float64(of) / float64(max(w.waited, 1)) }
	var known jvmthread.Time
	ended := map[int]jvmthread.Time{}
	for i := range enders {
		known += enders[i].waited
		ended[enders[i].thread] = enders[i].waited
	}
	for i := range w.list {
		if w.list[i].open && w.list[i].ender != 0 {
			cost.Running++
		}
	}
	cost.Known, cost.Others = share(known), q.threadGroups(ended)
	cost.Waiters, cost.Who = len(w.threads), q.threadGroups(w.threads)
	if len(enders) > 1 {
		cost.Turns = q.turnsOf(enders, w.threads)
	}
	for i := range enders[:min(len(enders), maxAnswerHolders)] {
		out, _ := q.answerHolder(&enders[i], share)
		cost.Holders = append(cost.Holders, out)
	}
	cost.More = len(enders) - len(cost.Holders)
	if c.kind == jvmthread.WaitFuture {
		cost.Busy, cost.Queued = q.busy(enders), q.queued(w.list)
	}
	cost.Exact = len(enders) == 0 && q.lacksExact(w.threads)
	if c.kind == jvmthread.WaitObject {
		cost.Vain = q.vain(c)
	}
	q.addPending(cost, c, open)
	return cost
}

// busy returns the part of their time in which the threads of the pool that ended most were not idle; 0: not known.
func (q *query) busy(enders []lockHolder) float64 {
	if len(enders) == 0 {
		return 0
	}
	pool := contention.Pool(q.sn.ThreadName(enders[0].thread))
	sel := selection{has: make([]bool, len(q.sn.Threads))}
	for i := range q.sn.Threads {
		sel.has[i] = q.sn.Threads[i].Known && contention.Pool(q.sn.ThreadName(i)) == pool
	}
	var all threadTally
	q.tally(sel, func(int) *threadTally { return &all })
	sum := all.sum()
	if sum.Time == 0 || sum.Idle.Count == 0 { // perhaps they wait where that cannot be seen
		return 0
	}
	return 1 - float64(sum.Idle.Time)/float64(sum.Time)
}

// takers returns the threads that waited to take from the queue into which others wait to put, as the queue is called in the source.
func (q *query) takers(c *contended) map[int]bool {
	of := map[int]bool{}
	if c.kind != jvmthread.WaitQueue || c.caller != "" || !q.isForOthers(c.kind, c.site) {
		return of
	}
	all := *q
	all.from, all.to = q.sn.From, q.to
	found := all.waitsFor(q.everyone(), [numKinds]bool{kindParked: true}, func(at place) bool {
		return at.wait == jvmthread.WaitQueue && !q.isForOthers(at.wait, at.stack)
	})
	for _, o := range found.all {
		if o.name == c.name {
			for _, i := range o.threads.List() {
				of[i] = true
			}
		}
	}
	return of
}

// isWorker reports whether the thread of an interval runs a task of an executor.
func (q *query) isWorker(iv *store.Interval) bool {
	stack := q.sn.Stacks[iv.Stack]
	return strings.Contains(stack, "java.util.concurrent.ThreadPoolExecutor.runWorker") || strings.Contains(stack, "java.util.concurrent.ForkJoinWorkerThread.run")
}
