// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

const (
	maxFlameSlice  = 1 << 17 // intervals and holds that are divided at a time
	maxFlamePieces = 1 << 19 // of their holds; what holders did in further ones is unknown
)

// split divides the time that threads waited in a part of the range among what the holders did meanwhile. Several holders at a time cause equal
// parts, and what no known holder caused has a sum of its own, so that the sums are those of the waits, to the nanosecond.
func (f *flames) split(sel selection, from, to jvmthread.Time) {
	s := &flameSplit{flames: f, from: from, to: to, locks: map[store.LockIndex]*flameWaits{}, seen: f.ownerStacks(from, to)}
	f.q.sn.Sweep(from, to, sel.has, s.wait)
	f.q.sn.Holds(from, to, func(h store.Hold) bool {
		if l := s.locks[h.Lock]; l != nil && h.Lock != 0 && h.Start < l.last && h.End > l.first {
			l.holds = append(l.holds, h)
		}
		return true
	})
	for _, l := range s.locks {
		s.divideLock(l)
	}
}

// flameSplit is the waits of a part of the range.
type flameSplit struct {
	*flames

	from, to jvmthread.Time
	locks    map[store.LockIndex]*flameWaits
	seen     map[int][]ownerStack
	pieces   []flamePiece
	parts    []viewapi.StateTime // that pieces caused, by piece and name
	unknown  []viewapi.StateTime // that no known holder caused, by name
	cut      int                 // pieces of all locks
	turns    []flameTurn
	open     []int32 // pieces at a time, the newest last
	queue    []int32 // waits at a time, in no order; only for meet
	alone    bool    // all of them have met the unknown holder
}

// flameWaits is the waits for a lock object.
type flameWaits struct {
	first, last jvmthread.Time
	waits       []flameWait
	holds       []store.Hold
	names       []int32 // the locks that users see in it, nearly always one
	waiting     []int64 // threads, by name
}

type flameWait struct {
	from, to jvmthread.Time
	name     int32 // index
	began    bool
	owner    ownerStack // of the lock when the wait began
	lock     store.LockIndex
	thread   int32
	place    int32 // in the queue
	seq      jvmthread.Seq
	length   jvmthread.Time // of the whole wait
}

// ownerStack is where the owner of a lock was when a thread began to wait for it.
type ownerStack struct {
	at    jvmthread.Time
	peer  int
	stack store.StackID
}

// flamePiece is one thing that a holder did.
type flamePiece struct {
	from, to jvmthread.Time
	thread   int
	doing    doing
	hold     *store.Hold
	row      *holderSums // of the last wait that it met; nil: none yet
	rowLock  int32
}

// flameTurn is where a wait or a piece begins or ends.
type flameTurn struct {
	at   jvmthread.Time
	what flameEnd
	n    int32
}

// flameEnd says what begins or ends, in the order in which that happens at the same time: a thread that begins to wait waits for the holder of
// that moment.
type flameEnd uint8

const (
	waitEnds flameEnd = iota
	pieceEnds
	pieceBegins
	waitBegins
)

// ownerStacks returns the known stacks of owners, by the thread that waited.
func (f *flames) ownerStacks(from, to jvmthread.Time) map[int][]ownerStack {
	all := map[int][]ownerStack{}
	f.q.sn.OwnerStacks(from, to, func(ev *jvmthread.Event) {
		i := f.q.sn.Thread(ev.Thread)
		all[i] = append(all[i], ownerStack{ev.Time, f.q.sn.Thread(ev.Peer), store.StackID(ev.Stack)})
	})
	for _, list := range all {
		slices.SortFunc(list, func(a, b ownerStack) int { return cmp.Compare(a.at, b.at) })
	}
	return all
}

func (s *flameSplit) wait(c *store.Cursor) {
	if kindOf(c.As()) != kindBlocked {
		return
	}
	lock := c.Lock()
	if s.only != nil && !s.only(lock) {
		return
	}
	name, ok := s.at[place{s.q.sn.Locks[lock].Class, c.Stack(), c.Wait()}]
	if !ok {
		return
	}
	w := flameWait{from: max(c.Start, s.from), to: min(c.End, s.to), began: c.Start >= s.from && !c.Marks.Has(jvmthread.MarkContinues)}
	l := s.locks[lock]
	if l == nil {
		l = &flameWaits{first: w.from}
		s.locks[lock] = l
	}
	l.first, l.last = min(l.first, w.from), max(l.last, w.to, w.from+1)
	if w.name = int32(slices.Index(l.names, name)); w.name < 0 {
		w.name = int32(len(l.names))
		l.names = append(l.names, name)
	}
	if list := s.seen[c.Thread()]; w.began && len(list) > 0 {
		i, _ := slices.BinarySearchFunc(list, c.Start, func(o ownerStack, t jvmthread.Time) int { return cmp.Compare(o.at, t) })
		if i < len(list) && list[i].at < max(c.End, c.Start+1) {
			w.owner = list[i]
		}
	}
	if s.meet != nil {
		iv := c.Interval()
		w.lock, w.thread, w.seq, w.length = lock, int32(iv.Thread), iv.Seq, c.Waited()
	}
	l.waits = append(l.waits, w)
}
