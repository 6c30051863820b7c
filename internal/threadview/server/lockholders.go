// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
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

// lockHolders returns who held locks while threads waited for them at some places, the sum of these waits, and the part of it with a known holder.
// The holders that caused most waiting come first; those that caused less than a twentieth of what the first one did are left out.
func (q *query) lockHolders(sel selection, places map[place]bool) (out []lockHolder, waited, known jvmthread.Time) {
	turns := make(map[store.LockIndex][]interaction.Turn)
	q.sn.Sweep(q.from, q.to, sel.has, func(c *store.Cursor) {
		lock, start, end := c.Lock(), max(c.Start, q.from), min(c.End, q.to)
		if start < end && kindOf(c.As()) == kindBlocked && places[place{q.sn.Locks[lock].Class, c.Stack(), c.Wait()}] {
			turns[lock] = append(turns[lock], interaction.Enter(start-q.from), interaction.Leave(end-q.from))
		}
	})
	waits := make(map[store.LockIndex][]part, len(turns))
	for l, list := range turns {
		parts, sum := waitingOf(list, q.from)
		waits[l], waited = parts, waited+sum
	}
	by := map[int]*lockHolder{}
	q.sn.Holds(q.from, q.to, func(h store.Hold) bool {
		list := waits[h.Lock]
		at, _ := slices.BinarySearchFunc(list, h.Start, func(p part, t jvmthread.Time) int { return cmp.Compare(p.to, t) })
		for ; at < len(list) && list[at].from < h.End; at++ {
			p, ok := list[at].within(h.Start, h.End)
			if !ok {
				continue
			}
			holder := by[h.Thread]
			if holder == nil {
				holder = &lockHolder{thread: h.Thread}
				by[h.Thread] = holder
			}
			holder.held += p.to - p.from
			holder.waited += p.waited()
			holder.parts = append(holder.parts, p)
		}
		return true
	})
	for _, h := range by {
		out = append(out, *h)
		known += h.waited
	}
	slices.SortFunc(out, func(a, b lockHolder) int {
		return cmp.Or(cmp.Compare(b.waited, a.waited), cmp.Compare(q.sn.Threads[a.thread].ID, q.sn.Threads[b.thread].ID))
	})
	out = slices.DeleteFunc(out, func(h lockHolder) bool { return h.waited < out[0].waited/leastAnswerShare })
	return out, waited, known
}
