// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"hash/fnv"
	"iter"
	"strings"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// inPool is the bit of the hashes of pools. LockIDs without a class are also call sites, whose numbers are far smaller, and Carriers.
const inPool = 1 << 31

// poolOf returns the ID of a pool that a library's class implements.
func poolOf(entry string) jvmthread.LockID {
	class := entry[:max(strings.LastIndexByte(entry, '.'), 0)]
	h := fnv.New32a()
	_, _ = h.Write([]byte(class))
	return jvmthread.LockID{Hash: (h.Sum32() | inPool) &^ 1} // odd: the carriers
}

func isPool(id jvmthread.LockID) bool {
	return id.Class == jvmthread.NoClass && id.Hash&inPool != 0 && id != jvmthread.Carriers
}

// several stands for more than one thread that waits on an object.
const several = -1

// pools gives waits for a pool to that pool if each thread waits on an object of its own: such an object belongs to the waiter, and says
// nothing about the pool. An object with several waiters in the window belongs to the pool, and distinguishes it from others of its class; so does a
// queue, even with one waiter. Waits that are not over stay where they are. See docs/adr/052-pools-without-a-common-object.md.
func (f *Finder) pools(w *window.Window) {
	if f.Waits == nil {
		return
	}
	e := &f.episodes
	clear(e.waiter)
	for i := range e.waits {
		wt := &e.waits[i]
		if w.Lanes[wt.lane].Intervals.Wait(int(wt.at)) != jvmthread.WaitPool {
			continue
		}
		if lane, ok := e.waiter[wt.lock]; ok && lane != wt.lane {
			e.waiter[wt.lock] = several
		} else if !ok {
			e.waiter[wt.lock] = wt.lane
		}
	}
	if len(e.waiter) == 0 {
		return
	}
	for i := range e.waits {
		wt := &e.waits[i]
		all := &w.Lanes[wt.lane].Intervals
		if all.Wait(int(wt.at)) != jvmthread.WaitPool {
			continue
		}
		id := e.locks[wt.lock]
		if pool, ok := f.pooled[id]; ok {
			wt.lock = e.lock(pool)
			continue
		}
		if id.Class == jvmthread.NoClass || e.waiter[wt.lock] == several || f.Waits.Queue(id.Class) {
			continue
		}
		if entry := f.Waits.Site(all.Stack(int(wt.at))).Entry; entry != "" {
			wt.lock = e.lock(poolOf(entry))
		}
	}
}

// alone gives episodes of a pool that are one wait back to the object of that wait, which is known.
func (f *Finder) alone(w *window.Window) {
	e := &f.episodes
	for i := range e.list {
		ep := &e.list[i]
		if ep.first != ep.last || !isPool(e.locks[ep.lock]) {
			continue
		}
		id := e.object(w, e.order[ep.first])
		if _, ok := f.pooled[id]; !ok {
			ep.lock = e.lock(id)
		}
	}
}

// object returns what a thread waited on.
func (e *episodes) object(w *window.Window, at int32) jvmthread.LockID {
	wt := &e.waits[at]
	iv := w.Lanes[wt.lane].Intervals.At(int(wt.at))
	return lockOf(iv.Wait, iv.Lock, iv.Stack)
}

// objects iterates over what threads waited on in an episode: its lock, or those of a pool.
func (e *episodes) objects(w *window.Window, ep *episode) iter.Seq[jvmthread.LockID] {
	return func(yield func(jvmthread.LockID) bool) {
		if !isPool(e.locks[ep.lock]) {
			yield(e.locks[ep.lock])
			return
		}
		for _, at := range e.order[ep.first : ep.last+1] {
			if !yield(e.object(w, at)) {
				return
			}
		}
	}
}

// stay remembers the pools of waits that are not over.
func (f *Finder) stay() {
	clear(f.pooled)
	for _, inc := range f.open {
		for i := range inc.open {
			if wt := &inc.open[i]; isPool(wt.key) {
				f.pooled[lockOf(wt.Interval.Wait, wt.Interval.Lock, wt.Interval.Stack)] = wt.key
			}
		}
	}
}

// heldDuring iterates over the holds of an episode's lock, cut to the episode, or of the objects of a pool, each cut to the waits for it.
func (e *episodes) heldDuring(w *window.Window, ep *episode) iter.Seq2[int32, jvmthread.Hold] {
	return func(yield func(int32, jvmthread.Hold) bool) {
		each := func(at int32, lock jvmthread.LockID, start, end jvmthread.Time) bool {
			for _, h := range w.HoldsOf(lock, start, end) {
				if !yield(at, h) {
					return false
				}
			}
			return true
		}
		if !isPool(e.locks[ep.lock]) {
			each(-1, e.locks[ep.lock], ep.start, ep.end)
			return
		}
		for _, at := range e.order[ep.first : ep.last+1] {
			if wt := &e.waits[at]; !each(at, e.object(w, at), wt.start, wt.end) {
				return
			}
		}
	}
}

// become makes what was counted for an object count for its pool.
func (inc *Incident) become(object, pool jvmthread.LockID) {
	old := inc.locks[object]
	if old == nil {
		return
	}
	l := inc.lock(pool)
	l.add(old)
	l.asRoot += old.asRoot
	delete(inc.locks, object)
	if inc.key == object {
		inc.key = pool
	}
	for at, sum := range inc.waited {
		if at.lock == object {
			delete(inc.waited, at)
			inc.addWaited(threadAt{at.thread, pool}, sum)
		}
	}
	for at, h := range inc.holders {
		if at.lock == object {
			delete(inc.holders, at)
			inc.holder(threadAt{at.thread, pool}).add(h.Blocked, h.Held)
		}
	}
	for i := range inc.holds {
		if inc.holds[i].Lock == object {
			inc.holds[i].Lock = pool
		}
	}
	for i := range inc.Waits {
		if inc.Waits[i].key == object {
			inc.Waits[i].key = pool
		}
	}
	for a, sum := range inc.activities {
		if a.lock == object {
			delete(inc.activities, a)
			a.lock = pool
			inc.activities.add(a, sum.blocked, sum.most, &sum.hold)
		}
	}
}
