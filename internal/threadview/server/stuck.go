// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/explain/stuck"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// openWait is a wait that has no end within the range, and no timeout.
type openWait struct {
	store.Interval

	by      []int // see stuck.Wait
	sure    bool
	verdict stuck.Verdict
}

// openWaits returns the waits at the end of the range that do not end by themselves, by thread, with who could end them.
func (q *query) openWaits() map[int]*openWait {
	out := map[int]*openWait{}
	for i := range q.sn.Threads {
		t := &q.sn.Threads[i]
		if !t.Known || t.Dead && t.Last <= q.to {
			continue
		}
		iv, ok := q.sn.At(i, min(t.Last, q.to)-1)
		if ok && iv.Marks.Has(jvmthread.MarkOpen) && (iv.Timeout == 0 || iv.Marks.Has(jvmthread.MarkContinues)) && q.isEndedByOthers(&iv) {
			out[i] = &openWait{Interval: iv}
		}
	}
	if len(out) > 0 {
		q.findVerdicts(out)
	}
	return out
}

// isEndedByOthers reports whether a wait lasts until another thread does something.
func (q *query) isEndedByOthers(iv *store.Interval) bool {
	switch iv.Wait {
	case jvmthread.WaitObject, jvmthread.WaitCondition, jvmthread.WaitQueue:
		return true
	}
	return iv.Wait.Contended() || q.isForOthers(iv.Wait, iv.Stack)
}

func (q *query) findVerdicts(open map[int]*openWait) {
	owners := map[store.LockIndex][]int{}
	q.sn.Holds(q.to-1, q.to, func(h store.Hold) bool {
		if h.End >= q.to {
			owners[h.Lock] = append(owners[h.Lock], h.Thread)
		}
		return true
	})
	for i, w := range open {
		if w.Wait == jvmthread.WaitLock && w.Peer == i && len(owners[w.Lock]) == 0 {
			owners[w.Lock] = []int{i} // it holds the read lock and wants the write lock; others wait after it
		}
	}
	workers := q.starvedWorkers(open)
	before := q.withPools(q.endersBefore(open))
	ended := func(i int) bool { return q.sn.Threads[i].Dead && q.sn.Threads[i].Last <= q.to }
	threads := slices.Sorted(maps.Keys(open))
	list := make([]stuck.Wait, len(threads))
	for i, thread := range threads {
		w := open[thread]
		switch {
		case w.Wait == jvmthread.WaitLock && len(owners[w.Lock]) > 0:
			w.by, w.sure = owners[w.Lock], true
		case w.Wait == jvmthread.WaitJoin, w.Wait == jvmthread.WaitLock:
			if w.Peer != 0 && (w.Wait == jvmthread.WaitLock || !ended(w.Peer)) {
				w.by, w.sure = []int{w.Peer}, true
			}
		case w.Wait == jvmthread.WaitFuture && w.Peer != 0: // that runs the task
			w.by, w.sure = []int{w.Peer}, true
		case w.Wait == jvmthread.WaitFuture && len(workers) > 0:
			w.by = workers
		default:
			w.by = before[q.subject(q.placeOf(w))]
			if w.Wait == jvmthread.WaitBarrier || w.Wait == jvmthread.WaitExchange {
				w.by = q.others(w.by, open, w)
			}
		}
		list[i] = stuck.Wait{Thread: thread, By: w.by, Sure: w.sure}
	}
	verdicts := stuck.Find(list, ended)
	for i, thread := range threads {
		open[thread].verdict = verdicts[i]
	}
}

// others returns those of some threads that do not wait for the same as an open wait: a barrier waits for another party.
func (q *query) others(threads []int, open map[int]*openWait, w *openWait) []int {
	same := q.subject(q.placeOf(w))
	return slices.DeleteFunc(slices.Clone(threads), func(i int) bool {
		o := open[i]
		return o != nil && q.subject(q.placeOf(o)) == same
	})
}

// withPools adds to threads the living ones of the same pools: what one of them has ended, others may end.
func (q *query) withPools(of map[subject][]int) map[subject][]int {
	if len(of) == 0 {
		return of
	}
	living := map[string][]int{}
	for i := range q.sn.Threads {
		if t := &q.sn.Threads[i]; t.Known && (!t.Dead || t.Last > q.to) {
			pool := contention.Pool(q.sn.ThreadName(i))
			living[pool] = append(living[pool], i)
		}
	}
	for at, threads := range of {
		all, pools := map[int]bool{}, map[string]bool{}
		for _, i := range threads {
			all[i] = true
			pools[contention.Pool(q.sn.ThreadName(i))] = true
		}
		for pool := range pools {
			for _, i := range living[pool] {
				all[i] = true
			}
		}
		if of[at] = slices.Sorted(maps.Keys(all)); len(all) > maxEnders {
			delete(of, at) // one of so many will be able to
		}
	}
	return of
}

// maxEnders limits the threads that could end a wait, of which any number of waits may have the same.
const maxEnders = 1000

func (q *query) placeOf(w *openWait) place {
	return place{q.sn.Locks[w.Lock].Class, w.Stack, w.Wait}
}

// endersBefore returns the threads that are known to have ended waits for the same as open ones: by completing tasks, returning permits, notifying, taking
// from the queue. Those that took a permit and have ended since with it are among them.
func (q *query) endersBefore(open map[int]*openWait) map[subject][]int {
	wanted := map[subject]bool{}
	for _, w := range open {
		if w.Wait != jvmthread.WaitLock && w.Wait != jvmthread.WaitJoin {
			wanted[q.subject(q.placeOf(w))] = true
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	all := *q
	all.from = q.sn.From
	kinds := [numKinds]bool{kindBlocked: true, kindParked: true, kindWaited: true, kindQueued: true}
	found := all.waitsFor(q.everyone(), kinds, func(at place) bool { return wanted[q.subject(at)] })
	out := map[subject][]int{}
	for i, waits := range all.lockWaits(q.everyone(), found.all) {
		of := all.takers(found.all[i])
		if len(of) == 0 {
			all.findEnders(waits.list)
		}
		for j := range waits.list {
			if w := &waits.list[j]; w.ender != 0 {
				of[w.ender] = true
			}
		}
		all.heldWhile(waits, func(h *store.Hold, _ part) { of[h.Thread] = true })
		list := slices.Sorted(maps.Keys(of))
		for at := range found.all[i].places {
			out[q.subject(at)] = list
		}
	}
	return out
}

// starvedWorkers returns the workers of the pool of which all wait for others, so that no task in their queue can run; nil: there is none. Of several, it
// is the largest.
func (q *query) starvedWorkers(open map[int]*openWait) (workers []int) {
	pools, free := map[string][]int{}, map[string]bool{}
	for i := range q.sn.Threads {
		t := &q.sn.Threads[i]
		if !t.Known || t.Dead && t.Last <= q.to {
			continue
		}
		pool := contention.Pool(q.sn.ThreadName(i))
		if w := open[i]; w == nil || !w.Wait.Contended() && !q.isForOthers(w.Wait, w.Stack) || !q.isWorker(&w.Interval) {
			free[pool] = true
			continue
		}
		pools[pool] = append(pools[pool], i)
	}
	for _, pool := range slices.Sorted(maps.Keys(pools)) {
		if !free[pool] && len(pools[pool]) > len(workers) {
			workers = pools[pool]
		}
	}
	return workers
}

// addPending adds which waits for something have not ended, and why they may never.
func (q *query) addPending(cost *viewapi.Cost, c *costly, open map[int]*openWait) {
	cost.Gone, cost.Unable, cost.Certain = []viewapi.GoneThread{}, []viewapi.ThreadGroup{}, true
	by, able := map[int]bool{}, map[int]bool{}
	for i := range c.waits.list {
		w := &c.waits.list[i]
		if !w.open {
			continue
		}
		cost.Open++
		cost.Pending += int64(w.to - w.from)
		switch o := open[w.thread]; {
		case o == nil || !c.places[q.placeOf(o)]:
		case o.verdict == stuck.Free:
			for _, thread := range q.others(o.by, open, o) {
				if t := &q.sn.Threads[thread]; !t.Dead || t.Last > q.to {
					able[thread] = true
				}
			}
		default:
			cost.Stuck++
			cost.Certain = cost.Certain && o.verdict == stuck.Certain
			cost.Itself = cost.Itself || slices.Equal(o.by, []int{w.thread})
			for _, thread := range o.by {
				by[thread] = true
			}
		}
	}
	if !c.kind.Contended() {
		cost.Able = q.away(able, c.waits.list)
	}
	cost.Certain = cost.Certain && cost.Stuck > 0
	cost.Itself = cost.Itself && len(by) == 1
	unable, workers := map[int]jvmthread.Time{}, true
	for i := range by {
		if o := open[i]; o != nil {
			unable[i] = o.End - o.Start
			workers = workers && q.isWorker(&o.Interval)
		} else {
			cost.Gone = append(cost.Gone, viewapi.GoneThread{Thread: q.threadRef(i), At: q.rel(q.sn.Threads[i].Last)})
		}
	}
	slices.SortFunc(cost.Gone, func(a, b viewapi.GoneThread) int {
		return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(a.Thread.ID, b.Thread.ID))
	})
	cost.Gone = cost.Gone[:min(len(cost.Gone), maxAnswerHolders)]
	cost.Unable = q.threadGroups(unable)
	if len(by) == 1 && !cost.Itself {
		cost.Back = q.back(c, open, slices.Collect(maps.Keys(by))[0])
	}
	if c.kind == jvmthread.WaitFuture && workers && len(cost.Unable) == 1 && len(cost.Gone) == 0 {
		cost.Starved = &cost.Unable[0]
	}
}

// back returns the threads for which a thread waits if all of them wait for something themselves.
func (q *query) back(c *costly, open map[int]*openWait, thread int) []viewapi.ThreadGroup {
	o := open[thread]
	if o == nil {
		return nil
	}
	times := map[int]jvmthread.Time{}
	for _, i := range o.by {
		w := open[i]
		if w == nil || !c.places[q.placeOf(w)] {
			return nil
		}
		times[i] = w.End - w.Start
	}
	return q.threadGroups(times)
}
