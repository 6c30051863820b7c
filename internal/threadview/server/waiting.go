// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// waiter is a thread that waits. A command requests them each second and shows few, so only those of the page are looked up again.
type waiter struct {
	thread  int // index
	blocked bool
	since   jvmthread.Time
}

// waiting returns the threads that wait at a moment.
func (q *query) waiting() (any, *Problem) {
	at := q.sn.Origin + jvmthread.Time(q.number("at", int64(q.sn.To-q.sn.Origin), -farAway, farAway))
	at = min(at, q.sn.To)
	q.from, q.to = at-1, at+1 // also what is open at the end of the history; list compares with the moment itself
	sel, states := q.selected(), q.words("state", stateNames())
	idle := q.choice("idle", "false", "true") == "true"
	if q.text("hide") != "" {
		q.fail("hide", "applies to ranges only; use idle=false")
	}
	sorted := q.text("sort") != ""
	q.paged(100, 200)
	order := ordered[viewapi.WaitingRow](q.params, "")
	if p := q.done(); p != nil {
		return nil, p
	}
	list := q.waiters(sel, at, states, idle)
	out := viewapi.Waiting{At: q.rel(at), Total: len(list), Offset: q.page.offset, Rows: []viewapi.WaitingRow{}}
	for _, w := range list {
		if w.blocked {
			out.Blocked++
		}
	}
	if !sorted {
		list = piece(list, q.page)
	}
	out.Rows = q.waitingRows(list, at)
	if sorted {
		order(out.Rows)
		out.Rows = piece(out.Rows, q.page)
	}
	return out, nil
}

// stoppedIn is the state of a waiting thread as shown. An idle one is in its own state: what it waits for is in the row.
func stoppedIn(shown, own jvmthread.State) jvmthread.State {
	if shown == store.StateIdle {
		return own
	}
	return shown
}

// waiters returns the selected threads that wait at a moment: those that wait for what others hold come first, and of equal ones those that
// have waited longest.
func (q *query) waiters(sel selection, at jvmthread.Time, states []int, idle bool) []waiter {
	var list []waiter
	for _, i := range sel.list {
		c, ok := q.at(i, at)
		if !ok || !c.State.Stopped() || !idle && c.Wait().Idle() || states != nil && !slices.Contains(states, int(stoppedIn(c.Shown(), c.State))) {
			continue
		}
		list = append(list, waiter{i, c.As() == jvmthread.StateBlocked || c.State == jvmthread.StateDeadlocked, c.End - c.Waited()})
	}
	slices.SortFunc(list, func(a, b waiter) int {
		if a.blocked != b.blocked {
			if a.blocked {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(q.id(a.thread), q.id(b.thread)))
	})
	return list
}

// at returns a cursor at the interval of a thread that includes a moment. At the end of the history it is the one that is still open.
func (q *query) at(thread int, at jvmthread.Time) (found store.Cursor, ok bool) {
	c := q.sn.Walk(thread, at-1, at+1)
	for c.Next() {
		if q.includes(c.Start, c.End, c.Marks.Has(jvmthread.MarkOpen), at) {
			found, ok = c, true
		}
	}
	return found, ok
}

// includes reports whether [start, end) includes a moment. Something open also includes the end of the history, up to which it is known.
func (q *query) includes(start, end jvmthread.Time, open bool, at jvmthread.Time) bool {
	return start <= at && (at < end || open && at == end && at == q.sn.To)
}

// waitingRows describes threads that wait at a moment.
func (q *query) waitingRows(list []waiter, at jvmthread.Time) []viewapi.WaitingRow {
	rows := make([]viewapi.WaitingRow, 0, len(list))
	locks := make(map[store.LockIndex][]store.Hold, len(list))
	intervals := make([]store.Interval, 0, len(list))
	for _, w := range list {
		c, _ := q.at(w.thread, at)
		iv := c.Interval()
		intervals = append(intervals, iv)
		if l := heldLock(&iv); l != 0 {
			locks[l] = nil
		}
	}
	q.holdsAt(locks, at)
	doing := make(map[int]string) // by thread
	for i := range intervals {
		iv := &intervals[i]
		site := q.sn.Site(iv.Stack)
		row := viewapi.WaitingRow{
			Thread: q.threadRef(iv.Thread), State: int(stoppedIn(iv.Shown(), iv.State)), Wait: iv.Wait.String(), Object: q.sn.Object(iv), Lock: q.lockRef(iv.Lock),
			Since: q.rel(list[i].since), Time: int64(at - list[i].since),
			Method: site.Function, Line: line(site.File, site.Line), Stack: uint32(iv.Stack),
		}
		if iv.Cycle != 0 {
			row.Deadlock = threadpdata.DeadlockID(q.sn.ID, iv.Cycle)
		}
		if holder := firstOther(locks[heldLock(iv)], iv.Thread); holder != 0 {
			text, known := doing[holder]
			if !known {
				text = q.doingAt(holder, at)
				doing[holder] = text
			}
			ref := q.threadRef(holder)
			row.Holder, row.Doing = &ref, text
		}
		rows = append(rows, row)
	}
	return rows
}

// heldLock returns the lock that others hold while a thread waits, or 0: a thread in Object.wait does not wait for the lock.
func heldLock(iv *store.Interval) store.LockIndex {
	if window.HasHolders(iv.Wait) {
		return iv.Lock
	}
	return 0
}

// holdsAt adds the holds at a moment to the locks in the map.
func (q *query) holdsAt(locks map[store.LockIndex][]store.Hold, at jvmthread.Time) {
	if len(locks) == 0 {
		return
	}
	q.sn.Holds(at-1, at+1, func(h store.Hold) bool {
		if list, ok := locks[h.Lock]; ok && q.includes(h.Start, h.End, h.Marks&jvmthread.HoldOpen != 0, at) {
			locks[h.Lock] = append(list, h)
		}
		return true
	})
	for _, list := range locks {
		slices.SortFunc(list, func(a, b store.Hold) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(q.id(a.Thread), q.id(b.Thread)))
		})
	}
}

// firstOther returns the thread of the first hold that is not of the waiting thread itself, or 0: a thread with a permit may wait for
// another.
func firstOther(holds []store.Hold, waiter int) int {
	for i := range holds {
		if holds[i].Thread != waiter {
			return holds[i].Thread
		}
	}
	return 0
}

// doingAt says what a thread does at a moment, or returns an empty string.
func (q *query) doingAt(thread int, at jvmthread.Time) string {
	c, ok := q.at(thread, at)
	if !ok {
		return ""
	}
	iv := c.Interval()
	return q.activity(&iv)
}
