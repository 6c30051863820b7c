// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// split divides the time that threads waited for a lock in a window among those that held it meanwhile, and each one's part by what it did.
//
// In a convoy, each wait spans the holds of all other threads of it, so looking at all holds of each wait is quadratic. Instead, the starts
// and ends of what holders did cut the time of a lock into segments. Each wait changes the number of waiting threads at two edges, which two
// searches find. One pass over the edges then gives the time waited before each of them, and a difference of two is what a holder caused.
//
// Times are relative to the start of the window, so that the products of pass do not overflow.
type split struct {
	*Scratch // between windows nil, or without locks

	memory Memory // nil: the split keeps its own
	base   jvmthread.Time
	took   map[jvmthread.LockID]taken // at the start of the window, of locks that are held then
	kept   map[jvmthread.LockID]taken // the same at its end
}

// lock has a part of the pieces and of the edges.
type lock struct {
	id     jvmthread.LockID
	pieces [2]int32
	edges  [2]int32
	last   int32 // edge that was found last
	shared bool
	kind   jvmthread.Wait
	name   contention.Text
	waited Sum // all waits
}

// piece is one thing that a holder did while it held the lock.
type piece struct {
	from, to jvmthread.Time
	thread   jvmthread.ThreadID
	stack    jvmthread.StackID
	state    jvmthread.State
	taken    bool   // the stack is where the thread took the lock, not where it is
	count    uint64 // waits that began meanwhile
	span     jvmthread.SpanContext
}

// edge is where a segment begins.
type edge struct {
	at      jvmthread.Time
	waiting int64          // change of the number of waiting threads
	moments jvmthread.Time // change of the sum of the starts of waits, negative, and of the ends of waits that are over
	holder  int32          // the piece of the segment from here; -1: none. Of several, the one that began last
	caused  jvmthread.Time // time that each holder from the first edge to this one has caused
}

func newSplit(memory Memory) split {
	return split{memory: memory, took: make(map[jvmthread.LockID]taken), kept: make(map[jvmthread.LockID]taken)}
}

// find returns the lock with an ID, adding it if its holders are not known.
func (s *split) find(id jvmthread.LockID) *lock {
	at := s.recent.Get(id.Hash, id)
	if at == 0 {
		if at = s.index[id]; at == 0 {
			n := int32(len(s.edges))
			s.locks = append(s.locks, lock{id: id, edges: [2]int32{n, n}, last: n})
			at = int32(len(s.locks))
			s.index[id] = at
		}
		s.recent.Put(id.Hash, id, at)
	}
	return &s.locks[at-1]
}

// add adds a wait for a lock over [start, end).
func (s *split) add(iv *jvmthread.Interval, d *jvmthread.Detail, name contention.Text, start, end jvmthread.Time, began uint64) {
	l := s.find(iv.Lock)
	l.kind = iv.Wait
	if name != contention.NoText {
		l.name = name
	}
	l.waited.add(Sum{began, end.Sub(start)})
	start -= s.base
	end -= s.base
	edges := s.edges[l.edges[0]:l.edges[1]]
	first := after(edges, start, int(l.last-l.edges[0]))
	l.last = l.edges[0] + int32(first)
	if first < len(edges) && start < end {
		edges[first].waiting++
		edges[first].moments -= start
		if n := after(edges, end-1, first); n < len(edges) {
			edges[n].waiting--
			edges[n].moments += end
		}
	}
	if first == 0 || began == 0 || edges[first-1].holder < 0 {
		return
	}
	p := &s.pieces[l.pieces[0]+edges[first-1].holder]
	p.count += began
	if d == nil || p.thread != iv.Peer {
		return
	}
	if d.OwnerStack != jvmthread.NoStack && (p.stack == jvmthread.NoStack || p.taken) {
		p.stack, p.taken = d.OwnerStack, false
	}
	if p.span.IsZero() {
		p.span = d.OwnerSpan
	}
}

// after returns the first edge after a time, near a place if it is there.
func after(edges []edge, t jvmthread.Time, near int) int {
	low, high := 0, len(edges)
	if near < high {
		if edges[near].at > t {
			high = near
			for step := 1; high > 0; step *= 2 {
				at := max(0, near-step)
				if edges[at].at <= t {
					low = at + 1
					break
				}
				high = at
			}
		} else {
			low = near + 1
			for step := 1; low < high; step *= 2 {
				at := near + step
				if at >= high {
					break
				}
				if edges[at].at > t {
					high = at
					break
				}
				low = at + 1
			}
		}
	}
	for low < high {
		if mid := int(uint(low+high) / 2); edges[mid].at <= t {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// report receives what a holder caused; NoThread if no holder is known.
type report func(k *Key, holder jvmthread.ThreadID, sum Sum, span jvmthread.SpanContext)

// finish reports what each holder caused. The sums of a lock are those of its waits.
func (s *split) finish(emit report) {
	for i := range s.locks {
		l := &s.locks[i]
		if l.waited == (Sum{}) {
			continue
		}
		rest := l.waited
		k := Key{Class: l.id.Class, Lock: l.name, Wait: l.kind}
		s.pass(l)
		edges := s.edges[l.edges[0]:l.edges[1]]
		from := 0
		for _, p := range s.pieces[l.pieces[0]:l.pieces[1]] {
			from = after(edges, p.from-1, from)
			sum := Sum{p.count, time.Duration(edges[after(edges, p.to-1, from)].caused - edges[from].caused)}
			if sum == (Sum{}) {
				continue
			}
			rest.Count -= sum.Count
			rest.Time -= sum.Time
			k.Stack, k.Doing, k.Taken = p.stack, p.state, p.taken
			emit(&k, p.thread, sum, p.span)
		}
		if rest != (Sum{}) {
			k.Stack, k.Doing, k.Taken, k.Pool = jvmthread.NoStack, jvmthread.StateUnknown, false, contention.NoText
			emit(&k, jvmthread.NoThread, rest, jvmthread.SpanContext{})
		}
	}
}

// pass computes what the holders of a lock have caused up to each edge. Several holders at a time cause equal parts.
func (s *split) pass(l *lock) {
	edges := s.edges[l.edges[0]:l.edges[1]]
	holders := s.count(l)
	var waiting int64
	var moments, before, caused, left jvmthread.Time
	for i := range edges {
		e := &edges[i]
		waiting += e.waiting
		moments += e.moments
		waited := jvmthread.Time(waiting)*e.at + moments
		if i > 0 && holders[i-1] > 0 {
			n := jvmthread.Time(holders[i-1])
			left += waited - before
			caused += left / n
			left %= n
		}
		e.caused = caused
		before = waited
	}
}

// count returns the number of holders in the segment from each edge of a lock.
func (s *split) count(l *lock) []int32 {
	edges := s.edges[l.edges[0]:l.edges[1]]
	s.holders = slices.Grow(s.holders[:0], len(edges))[:len(edges)]
	if !l.shared {
		for i := range edges {
			s.holders[i] = min(1, edges[i].holder+1)
		}
		return s.holders
	}
	clear(s.holders)
	for _, p := range s.pieces[l.pieces[0]:l.pieces[1]] {
		s.holders[after(edges, p.from-1, 0)]++
		s.holders[after(edges, p.to-1, 0)]--
	}
	for i := 1; i < len(edges); i++ {
		s.holders[i] += s.holders[i-1]
	}
	return s.holders
}
