// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// lockHolder is a thread that held locks while others waited for them.
type lockHolder struct {
	thread int
	held   jvmthread.Time // while at least one thread waited
	waited jvmthread.Time // sum of the waits of all threads in that time
	parts  []part
}

// part is a time in which threads wait for a lock, or the part of it in which another thread held the lock.
type part struct {
	from, to jvmthread.Time
	waits    waiting
}

// waited returns the sum of the waits of all threads in a part.
func (p part) waited() jvmthread.Time { return p.waits.until(p.to) - p.waits.until(p.from) }

// within cuts a part to a time; false if nothing is left.
func (p part) within(from, to jvmthread.Time) (part, bool) {
	p.from, p.to = max(p.from, from), min(p.to, to)
	return p, p.from < p.to
}

// waiting is how many threads wait for a lock: from each step on, until the next one.
type waiting []waitingStep

type waitingStep struct {
	at      jvmthread.Time
	threads int32
	before  jvmthread.Time // sum of the waits of all threads until then
}

// until returns the sum of the waits of all threads until a time.
func (w waiting) until(at jvmthread.Time) jvmthread.Time {
	i, found := slices.BinarySearchFunc(w, at, func(s waitingStep, t jvmthread.Time) int { return cmp.Compare(s.at, t) })
	switch {
	case found:
		return w[i].before
	case i == 0:
		return 0
	}
	return w[i-1].before + (at-w[i-1].at)*jvmthread.Time(w[i-1].threads)
}

// waitingOf goes through the queue of a lock, whose turns are relative to a time. It returns the times in which threads waited, and the sum of
// their waits.
func waitingOf(turns []interaction.Turn, zero jvmthread.Time) (parts []part, waited jvmthread.Time) {
	slices.Sort(turns)
	var queue interaction.Crowd
	var steps waiting
	for _, t := range turns {
		at, before := zero+t.Time(), queue.Now
		if n := len(steps); n > 0 {
			waited += (at - steps[n-1].at) * jvmthread.Time(before)
		}
		queue.Apply(t)
		if n := len(steps); n > 0 && steps[n-1].at == at {
			steps[n-1].threads = queue.Now
		} else {
			steps = append(steps, waitingStep{at, queue.Now, waited})
		}
		switch {
		case before == 0 && queue.Now > 0:
			parts = append(parts, part{from: at})
		case before > 0 && queue.Now == 0:
			parts[len(parts)-1].to = at
		}
	}
	for i := range parts {
		parts[i].waits = steps
	}
	return parts, waited
}

// maxEnded bounds the waits of which it is searched who ended them; of others, that is not known.
const maxEnded = 1 << 20

// lockWaits is when threads waited for what users see as one lock.
type lockWaits struct {
	parts   map[store.LockIndex][]part
	waited  jvmthread.Time         // sum
	threads map[int]jvmthread.Time // the same by thread
	list    []endedWait            // the waits for what no thread holds, for permits, and those without an end
}

// lockWaits finds the waits for each of some locks.
func (q *query) lockWaits(sel selection, all []*contended) []*lockWaits {
	type object struct {
		of   int
		lock store.LockIndex
	}
	turns, of, out := map[object][]interaction.Turn{}, map[place]int{}, make([]*lockWaits, len(all))
	for i, c := range all {
		out[i] = &lockWaits{parts: map[store.LockIndex][]part{}, threads: map[int]jvmthread.Time{}}
		for at := range c.places {
			of[at] = i
		}
	}
	q.sn.Sweep(q.from, q.to, sel.has, func(c *store.Cursor) {
		lock, start, end := c.Lock(), max(c.Start, q.from), min(c.End, q.to)
		if start >= end || c.Wait() == jvmthread.WaitNone {
			return
		}
		i, wanted := of[place{q.sn.Locks[lock].Class, c.Stack(), c.Wait()}]
		if !wanted || !q.counts(c.Thread(), c.Wait()) {
			return
		}
		w := out[i]
		w.threads[c.Thread()] += end - start
		if !c.Wait().Contended() {
			w.waited += end - start
			w.add(c, start, end)
			return
		}
		if c.Wait() == jvmthread.WaitPermit || c.Marks.Has(jvmthread.MarkOpen) {
			w.add(c, start, end)
		}
		k := object{i, lock}
		turns[k] = append(turns[k], interaction.Enter(start-q.from), interaction.Leave(end-q.from))
	})
	for k, list := range turns {
		parts, sum := waitingOf(list, q.from)
		out[k.of].parts[k.lock], out[k.of].waited = parts, out[k.of].waited+sum
	}
	return out
}

// add adds a wait, or continues it with its next part.
func (w *lockWaits) add(c *store.Cursor, from, to jvmthread.Time) {
	if c.Marks.Has(jvmthread.MarkContinues) {
		for i := len(w.list) - 1; i >= 0; i-- {
			if last := &w.list[i]; last.thread == c.Thread() {
				if last.to == from {
					last.to, last.end, last.open = to, c.End, c.Marks.Has(jvmthread.MarkOpen)
					return
				}
				break
			}
		}
	}
	if len(w.list) >= maxEnded {
		return
	}
	wait := endedWait{thread: c.Thread(), from: from, to: to, end: c.End, open: c.Marks.Has(jvmthread.MarkOpen), lock: c.Lock()}
	switch iv := c.Interval(); {
	case c.Wait() == jvmthread.WaitJoin:
		wait.ender, wait.resolved = iv.Peer, true
	case c.Wait() == jvmthread.WaitFuture:
		wait.runner = iv.Peer
		if wait.open {
			wait.ender, wait.resolved = iv.Peer, true
		}
	}
	w.list = append(w.list, wait)
}

// heldWhile calls yield with each part of a hold in which others waited.
func (q *query) heldWhile(w *lockWaits, yield func(h *store.Hold, p part)) {
	q.sn.Holds(q.from, q.to, func(h store.Hold) bool {
		list := w.parts[h.Lock]
		at, _ := slices.BinarySearchFunc(list, h.Start, func(p part, t jvmthread.Time) int { return cmp.Compare(p.to, t) })
		for ; at < len(list) && list[at].from < h.End; at++ {
			if p, ok := list[at].within(h.Start, h.End); ok {
				yield(&h, p)
			}
		}
		return true
	})
}

// longestHold returns the length of the longest hold within the range while others waited.
func (q *query) longestHold(w *lockWaits) (longest jvmthread.Time) {
	q.heldWhile(w, func(h *store.Hold, _ part) { longest = max(longest, min(h.End, q.to)-max(h.Start, q.from)) })
	return longest
}

// lockHolders returns who held locks while threads waited for them, and the part of the waits' sum with a known holder. The holders that caused
// most waiting come first.
func (q *query) lockHolders(c *costly) (out []lockHolder, known jvmthread.Time) {
	w, by, own := c.waits, map[int]*lockHolder{}, map[int][]endedWait{}
	for i := range w.list {
		if c.kind == jvmthread.WaitPermit {
			own[w.list[i].thread] = append(own[w.list[i].thread], w.list[i])
		}
	}
	q.heldWhile(w, func(h *store.Hold, p part) {
		holder := by[h.Thread]
		if holder == nil {
			holder = &lockHolder{thread: h.Thread}
			by[h.Thread] = holder
		}
		for p := range without(p, own[h.Thread]) {
			holder.held += p.to - p.from
			holder.waited += p.waited()
			holder.parts = append(holder.parts, p)
		}
	})
	maps.DeleteFunc(by, func(_ int, h *lockHolder) bool { return len(h.parts) == 0 })
	for _, h := range by {
		out = append(out, *h)
		known += h.waited
	}
	slices.SortFunc(out, func(a, b lockHolder) int {
		return cmp.Or(cmp.Compare(b.waited, a.waited), cmp.Compare(q.sn.Threads[a.thread].ID, q.sn.Threads[b.thread].ID))
	})
	return out, known
}

// without returns what is left of a part outside of waits of the holder for the same. The return of a permit is seen only if another thread waits
// for it: one that waits for a permit has hardly kept that of before.
func without(p part, waits []endedWait) iter.Seq[part] {
	return func(yield func(part) bool) {
		at := p.from
		for i := range waits {
			if waits[i].to <= at || waits[i].from >= p.to {
				continue
			}
			if before, ok := p.within(at, waits[i].from); ok && !yield(before) {
				return
			}
			at = waits[i].to
		}
		if rest, ok := p.within(at, p.to); ok {
			yield(rest)
		}
	}
}
