// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/compare"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// flame returns the contended waits by lock: the stacks that waited, and what the holders did meanwhile.
func (q *query) flame() (any, *Problem) {
	sel := q.selected()
	inClass, isNamed := q.matches("class"), q.matches("lock")
	width := q.number("width", 1000, 1, 4000)
	q.paged(2000, 4000)
	var before *query
	var p *Problem
	var requests [2]int64
	if slices.ContainsFunc([]string{baseline, "before_from", "before_to"}, q.values.Has) {
		before, p = q.compareTo()
		requests = [2]int64{q.number("before_requests", 0, 1, farAway), q.number("requests", 0, 1, farAway)}
	}
	if wrong := cmp.Or(q.done(), p); wrong != nil {
		return nil, wrong
	}
	bytes := max(q.flameMemory(), before.flameMemory())
	if !q.view.cfg.Memory.Take(bytes) {
		return nil, problem(http.StatusUnprocessableEntity,
			"no memory for a flame graph now; choose a shorter range (from, to), or give the collector more memory")
	}
	defer q.view.cfg.Memory.Give(bytes)
	g := newFlameGraph()
	g.add(q.flames(sel, inClass, isNamed), after)
	out := viewapi.Flame{From: q.rel(q.from), To: q.rel(q.to)}
	if before != nil {
		others := before.selected()
		then, now := before.compared(others), q.compared(sel)
		then.run.Requests, now.run.Requests = uint64(requests[0]), uint64(requests[1])
		g.compared = compare.Runs(&then.run, &now.run)
		g.add(before.flames(others, inClass, isNamed), earlier)
		out.Baseline = &viewapi.Baseline{
			Session: before.sn.ID.String(), From: before.rel(before.from), To: before.rel(before.to),
			Unit: string(g.compared.Unit), Scale: g.compared.Scale(),
		}
	}
	g.build(width)
	g.write(q, &out, width, q.page.limit)
	return out, nil
}

// What a flame graph takes memory for, about, in bytes.
const (
	perFlameInterval = 400 // that is divided
	perFlameNode     = 150 // of a tree
	perFlameStack    = 16  // nodes, most of which it has in common with others
)

// flameMemory is about what the flame graph of a range needs.
func (q *query) flameMemory() int {
	if q == nil {
		return 0
	}
	return perFlameInterval*q.intervalsUpTo(maxFlameSlice) + perFlameNode*min(perFlameStack*len(q.sn.Stacks), maxFlameNodes)
}

// The two ranges of a flame graph.
const (
	after = iota
	earlier
	numRanges
)

// lockKey is what users see as one lock, in any session.
type lockKey struct{ class, name string }

// flames is the contended waits of a range by lock.
type flames struct {
	q       *query
	locks   []lockKey
	index   map[lockKey]int32
	kinds   []jvmthread.Wait // by lock
	at      map[place]int32  // the lock of a stack that waits
	waiters stackWaits
	holders map[doing]*held

	only func(store.LockIndex) bool // nil: all lock objects
	// caused gets the waits for a lock that a piece of a hold caused, or nil for those that no known holder caused.
	caused func(lock int32, p *flamePiece, sum viewapi.StateTime)
	// meet gets each wait together with the pieces of holds that caused a part of it, or nil; a nil meet is not called.
	meet func(lock int32, p *flamePiece, w *flameWait)
}

// doing is what holders of a lock did, and where.
type doing struct {
	lock  int32
	stack store.StackID
	state jvmthread.State
	taken bool // the stack is where the holder had taken the lock; it ran
	known bool // the holder is known
}

// held is the time that others waited meanwhile.
type held struct {
	viewapi.StateTime

	longest int64 // that one interval of a holder caused
	thread  int
	when    jvmthread.Time // a time in that interval
}

func (h *held) add(count, time int64, thread int, when jvmthread.Time) {
	h.Count += count
	if h.Time += time; time > h.longest || h.thread == 0 {
		h.longest, h.thread, h.when = time, thread, when
	}
}

// flames adds up the contended waits of the range.
func (q *query) flames(sel selection, inClass, isNamed func(string) bool) *flames {
	f := q.flameLocks(sel, inClass, isNamed)
	f.caused = f.add
	f.divide(sel)
	return f
}

// flameLocks finds the locks of the contended waits of the range.
func (q *query) flameLocks(sel selection, inClass, isNamed func(string) bool) *flames {
	f := &flames{q: q, index: map[lockKey]int32{}, at: map[place]int32{}, waiters: stackWaits{}, holders: map[doing]*held{}}
	found := q.contention(sel)
	for _, c := range found.all { // what cost the most first: its kind counts
		k := lockKey{q.sn.Classes[c.class], c.title()}
		if c.kind == jvmthread.WaitPool {
			k.class = ""
		}
		if !isNamed(k.name) {
			continue
		}
		for at := range c.places {
			if !inClass(q.sn.Classes[at.class]) {
				continue
			}
			lock, ok := f.index[k]
			if !ok {
				lock = int32(len(f.locks))
				f.index[k] = lock
				f.locks, f.kinds = append(f.locks, k), append(f.kinds, c.kind)
			}
			f.at[at], f.waiters[at] = lock, found.stacks[at]
		}
	}
	return f
}

// divide divides the waits among the holders.
func (f *flames) divide(sel selection) {
	f.q.sn.Slices(f.q.from, f.q.to, maxFlameSlice, func(from, to jvmthread.Time) { f.split(sel, from, to) })
}

// add adds to the sums of what holders did.
func (f *flames) add(lock int32, p *flamePiece, sum viewapi.StateTime) {
	d, thread, when := doing{}, 0, jvmthread.Time(0)
	if p != nil {
		d, thread, when = p.doing, p.thread, p.from
	}
	d.lock = lock
	h := f.holders[d]
	if h == nil {
		h = &held{}
		f.holders[d] = h
	}
	h.add(sum.Count, sum.Time, thread, when)
}

// sumOf returns a sum for package compare.
func sumOf(s viewapi.StateTime) compare.Sum {
	return compare.Sum{Count: uint64(max(0, s.Count)), Time: time.Duration(s.Time)}
}
