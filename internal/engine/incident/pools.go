// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"iter"
	"strings"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// maxPools bounds the pools of a session. Objects of further ones stay apart.
const maxPools = 1 << 16

// poolOf returns the pool that a library's class implements, given the method through which an application waits for it.
func (f *Finder) poolOf(entry string) (_ Awaited, ok bool) {
	class := entry[:max(strings.LastIndexByte(entry, '.'), 0)]
	n, ok := f.classes[class]
	if !ok && len(f.classes) < maxPools {
		n, ok = uint32(len(f.classes)), true
		f.classes[strings.Clone(class)] = n
	}
	return Awaited{Kind: AwaitedPool, Number: n}, ok
}

// several stands for more than one thread that waits on an object.
const several = -1

// pools gives waits for a pool to that pool if each thread waits on an object of its own: such an object belongs to the waiter, and says
// nothing about the pool. An object with several waiters in the window belongs to the pool, and distinguishes it from others of its class; so does a
// queue, even with one waiter. Waits that are not over stay where they are. Two pools of one class without such
// an object are one: a list of the classes that make an object for each waiter would differ by library.
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
		of := e.awaited[wt.lock]
		if pool, ok := f.pooled[of]; ok {
			wt.lock = e.lock(pool)
			continue
		}
		if of.Lock.Class == jvmthread.NoClass || e.waiter[wt.lock] == several || f.Waits.Queue(of.Lock.Class) {
			continue
		}
		if entry := f.Waits.Site(all.Stack(int(wt.at))).Entry; entry != "" {
			if pool, ok := f.poolOf(entry); ok {
				wt.lock = e.lock(pool)
			}
		}
	}
}

// alone gives episodes of a pool that are one wait back to the object of that wait, which is known.
func (f *Finder) alone(w *window.Window) {
	e := &f.episodes
	for i := range e.list {
		ep := &e.list[i]
		if ep.first != ep.last || e.awaited[ep.lock].Kind != AwaitedPool {
			continue
		}
		id := e.object(w, e.order[ep.first])
		if _, ok := f.pooled[id]; !ok {
			ep.lock = e.lock(id)
		}
	}
}

// object returns what a thread waited on.
func (e *episodes) object(w *window.Window, at int32) Awaited {
	wt := &e.waits[at]
	iv := w.Lanes[wt.lane].Intervals.At(int(wt.at))
	return awaitedBy(iv.Wait, iv.Lock, iv.Stack)
}

// objects iterates over what threads waited on in an episode: its lock, or those of a pool.
func (e *episodes) objects(w *window.Window, ep *episode) iter.Seq[Awaited] {
	return func(yield func(Awaited) bool) {
		if e.awaited[ep.lock].Kind != AwaitedPool {
			yield(e.awaited[ep.lock])
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
			if wt := &inc.open[i]; wt.key.Kind == AwaitedPool {
				f.pooled[awaitedBy(wt.Interval.Wait, wt.Interval.Lock, wt.Interval.Stack)] = wt.key
			}
		}
	}
}

// heldDuring iterates over the holds of an episode's lock, cut to the episode, or of the objects of a pool, each cut to the waits for it.
func (e *episodes) heldDuring(w *window.Window, ep *episode) iter.Seq2[int32, jvmthread.Hold] {
	return func(yield func(int32, jvmthread.Hold) bool) {
		each := func(at int32, of Awaited, start, end jvmthread.Time) bool {
			for _, h := range of.holds(w, start, end) {
				if !yield(at, h) {
					return false
				}
			}
			return true
		}
		if e.awaited[ep.lock].Kind != AwaitedPool {
			each(-1, e.awaited[ep.lock], ep.start, ep.end)
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
func (inc *Incident) become(object, pool Awaited) {
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
		if at.of == object {
			delete(inc.waited, at)
			inc.addWaited(threadAt{at.thread, pool}, sum)
		}
	}
	for at, h := range inc.holders {
		if at.of == object {
			delete(inc.holders, at)
			inc.holder(threadAt{at.thread, pool}).add(h.Blocked, h.Held)
		}
	}
	for i := range inc.holds {
		if inc.holds[i].Of == object {
			inc.holds[i].Of = pool
		}
	}
	for i := range inc.Waits {
		if inc.Waits[i].key == object {
			inc.Waits[i].key = pool
		}
	}
	for a, sum := range inc.activities {
		if a.of == object {
			delete(inc.activities, a)
			a.of = pool
			inc.activities.add(a, sum.blocked, sum.most, &sum.hold)
		}
	}
}
