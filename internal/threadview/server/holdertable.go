// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// holderTable returns the table of holders: the contended waits by lock and by the threads that held it meanwhile.
func (q *query) holderTable() (any, *Problem) {
	sel := q.selected()
	inClass, isNamed, hasLock, isHolder := q.matches("class"), q.matches("lock"), q.ids("locks"), q.ids("holder")
	pools := q.choice("by", "thread", "pool") == "pool"
	q.paged(100, 200)
	order := ordered[viewapi.HolderRow](q.params, "")
	if p := q.done(); p != nil {
		return nil, p
	}
	bytes := q.flameMemory() + maxHolderSets
	if !q.view.cfg.Memory.Take(bytes) {
		return nil, problem(http.StatusUnprocessableEntity,
			"no memory for a table of holders now; choose a shorter range (from, to), or give the collector more memory")
	}
	defer q.view.cfg.Memory.Give(bytes)
	f := q.flameLocks(sel, inClass, isNamed)
	t := &holderSumsTable{flames: f, rows: map[holderKey]*holderSums{}, sets: maxHolderSets, meetings: maxMeetings}
	if pools {
		t.pools = q.sn.Pools()
	}
	if q.values.Has("locks") {
		f.only = func(l store.LockIndex) bool { return hasLock(uint64(l)) }
	}
	f.caused, f.meet = t.caused, t.met
	f.divide(sel)
	out := viewapi.Holders{From: q.rel(q.from), To: q.rel(q.to), Offset: q.page.offset, Partial: t.sets < 0 || t.meetings < 0}
	rows, sum := []viewapi.HolderRow{}, t.empty()
	for k, s := range t.rows {
		if s.StateTime == (viewapi.StateTime{}) || q.values.Has("holder") && !t.isAny(k, s, isHolder) {
			continue
		}
		rows = append(rows, t.row(k, s))
		sum.merge(s)
	}
	slices.SortFunc(rows, func(a, b viewapi.HolderRow) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Lock, b.Lock), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Holder, b.Holder), cmp.Compare(a.ID, b.ID))
	})
	order(rows)
	out.Total, out.Holders, out.Sum = len(rows), piece(rows, q.page), t.sum(sum)
	return out, nil
}

// Limits of a table of holders. The sums are exact whatever the limits, but beyond them it does not say who waited.
const (
	maxHolderRows = 1 << 16 // further holders of a lock are one
	maxHolderDid  = 64      // things that a holder did
	maxHolderSets = 32 << 20
	maxMeetings   = 1 << 25 // of waits and pieces of holds
	maxWho        = 3
)

// The indices of holders that stand for something else than a thread.
const (
	unknownHolder = -1
	otherHolders  = -2
)

type holderKey struct {
	lock   int32
	thread int    // index, unless the table is by pool and the thread is in one
	pool   string // else empty
}

// holderSums is the sums of a holder of a lock.
type holderSums struct {
	viewapi.StateTime

	did     map[doing]*held
	longest jvmthread.Time // hold, within the range
	wait    *flameWait     // the longest
	threads store.Set      // that held
	waiters store.Set
	locks   store.Set
	counted bool // waiters and locks are
}

type holderSumsTable struct {
	*flames

	pools    []string // by thread; nil: the table is by thread
	rows     map[holderKey]*holderSums
	sets     int // bytes left
	meetings int // left
}

// empty returns sums that count waiters, if there is memory for that.
func (t *holderSumsTable) empty() *holderSums {
	s := &holderSums{did: map[doing]*held{}}
	t.sets -= (len(t.q.sn.Threads)*2 + len(t.q.sn.Locks)) / 8
	s.counted = t.sets >= 0
	return s
}

// of returns the sums of the holder of a piece, or of the unknown holder.
func (t *holderSumsTable) of(lock int32, p *flamePiece) *holderSums {
	if p != nil && p.row != nil && p.rowLock == lock {
		return p.row
	}
	k := holderKey{lock: lock, thread: unknownHolder}
	if p != nil {
		k.thread = p.thread
		if t.pools != nil && t.pools[p.thread] != "" {
			k.thread, k.pool = 0, t.pools[p.thread]
		}
	}
	s := t.rows[k]
	if s == nil && len(t.rows) >= maxHolderRows && p != nil {
		k = holderKey{lock: lock, thread: otherHolders}
		s = t.rows[k]
	}
	if s == nil {
		s = t.empty()
		t.rows[k] = s
	}
	if p != nil {
		p.row, p.rowLock = s, lock
	}
	return s
}

func (t *holderSumsTable) caused(lock int32, p *flamePiece, sum viewapi.StateTime) {
	s := t.of(lock, p)
	add(&s.StateTime, sum.Count, sum.Time)
	if p == nil {
		return
	}
	s.longest = max(s.longest, min(p.hold.End, t.q.to)-max(p.hold.Start, t.q.from))
	if s.counted {
		s.threads.Add(p.thread)
		s.locks.Add(int(p.hold.Lock))
	}
	h := s.did[p.doing]
	if h == nil {
		if len(s.did) >= maxHolderDid {
			return
		}
		h = &held{}
		s.did[p.doing] = h
	}
	h.add(sum.Count, sum.Time, p.thread, p.from)
}

// met notes who waited for a holder.
func (t *holderSumsTable) met(lock int32, p *flamePiece, w *flameWait) {
	if t.meetings--; t.meetings < 0 {
		t.meet = nil
		return
	}
	s := t.of(lock, p)
	if s.counted {
		s.waiters.Add(int(w.thread))
		s.locks.Add(int(w.lock))
	}
	if s.wait.isShorter(w) {
		longest := *w
		s.wait = &longest
	}
}

// isShorter orders waits by length; of equal ones the earlier is the longer.
func (w *flameWait) isShorter(o *flameWait) bool {
	return w == nil || cmp.Or(cmp.Compare(w.length, o.length), cmp.Compare(o.from, w.from), cmp.Compare(o.thread, w.thread)) < 0
}

func (s *holderSums) merge(o *holderSums) {
	add(&s.StateTime, o.Count, o.Time)
	s.longest = max(s.longest, o.longest)
	if o.wait != nil && s.wait.isShorter(o.wait) {
		s.wait = o.wait
	}
	s.threads.Merge(&o.threads)
	s.waiters.Merge(&o.waiters)
	s.locks.Merge(&o.locks)
}

// isAny reports whether a holder is one of the wanted threads, or has one of them.
func (t *holderSumsTable) isAny(k holderKey, s *holderSums, wanted func(uint64) bool) bool {
	if k.thread > 0 {
		return wanted(t.q.id(k.thread))
	}
	return slices.ContainsFunc(s.threads.List(), func(i int) bool { return wanted(t.q.id(i)) })
}
