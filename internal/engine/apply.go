// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"

	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// apply processes events in the order of time.
func (e *Engine) apply(events []jvmthread.Event, yield Yield) {
	if len(events) > 0 {
		for _, see := range e.watchers {
			see(events)
		}
	}
	for i := range events {
		ev := &events[i]
		e.builder.Begin(ev.Time)
		away := wasAway(ev)
		e.away = e.away || away
		if ev.Time >= e.builder.End() {
			e.cutUntil(ev.Time, yield)
		}
		switch {
		case !e.builder.Full():
		case ev.Time > e.last:
			e.cut(ev.Time, window.CutSize, yield)
		case e.builder.Overfull(): // a window cannot be cut twice at the same time, and no JVM has that many events in one nanosecond
			e.refused++
			continue
		}
		if e.deadlocks.Due(ev.Time) {
			e.confirm(ev.Time)
		}
		e.last, e.away, e.untouched = ev.Time, away, false
		e.builder.Count(ev)
		if e.notifies != nil {
			e.notifies.Apply(ev)
		}
		e.step(ev)
	}
}

// wasAway reports whether an event says that the session was at another collector, of which nothing is missed.
func wasAway(ev *jvmthread.Event) bool {
	return ev.Kind == jvmthread.KindGap && ev.Thread == jvmthread.NoThread && ev.Arg == 0
}

func (e *Engine) step(ev *jvmthread.Event) {
	ended, th, ok := e.timeline.Apply(ev)
	if !ok {
		return
	}
	if ev.Kind == jvmthread.KindCPU && th.Used().Runnable > 0 {
		e.builder.AddUsage(th)
	}
	closed := new(jvmthread.Interval)                       // interval of the event's own thread
	twice := len(ended) > 1 && ended[1].Thread == ev.Thread // an unknown thread suspends itself
	if len(ended) > 0 && ended[0].Thread == ev.Thread && !twice {
		closed, ended = &ended[0], ended[1:]
	}
	var woken *jvmthread.Interval // of the thread that the event made ready to run
	if len(ended) > 0 && ev.MakesReady() {
		woken, ended = &ended[0], ended[1:]
	}
	e.add(ended)
	left := closed.Cycle // the deadlock that a thread has left
	switch {
	case woken != nil && woken.Cycle != 0:
		left = woken.Cycle
	case len(ended) == 1:
		left = ended[0].Cycle
	}
	interactions := e.binder.Apply(ev, th, closed)
	if closed.Seq != jvmthread.NoSeq {
		e.builder.Add(th, closed)
	}
	own := len(interactions)
	var peer *timeline.Thread
	if woken != nil {
		peer = e.timeline.Thread(ev.Peer)
		interactions = e.binder.Woken(ev, th, peer, woken)
		e.builder.Add(peer, woken)
	}
	for i := range interactions {
		ia := &interactions[i]
		if to := e.timeline.Thread(ia.To.Thread); to != nil {
			e.builder.AddInteraction(to, ia)
		}
	}
	if e.requests != nil {
		holds := e.binder.NewHolds(e.holds)
		e.holds += len(holds)
		e.requests.Window(e.builder.Start())
		e.requests.Apply(ev, th, closed, interactions[:own], holds)
		if woken != nil {
			e.requests.Woken(peer, woken, interactions[own:])
		}
	}
	if left != 0 {
		e.free(left, ev.Time)
	}
	e.deadlocks.Apply(ev)
}

// free ends a deadlock that a thread has left. The others wait on: it may let them go, or keep its locks.
func (e *Engine) free(cycle jvmthread.Cycle, at jvmthread.Time) {
	for _, m := range e.deadlocks.Break(cycle) {
		e.add(e.timeline.Freed(m.Thread, cycle, at))
	}
}

// add adds intervals of several threads.
func (e *Engine) add(list []jvmthread.Interval) {
	for i := range list {
		e.builder.Add(e.timeline.Thread(list[i].Thread), &list[i])
	}
}

// confirm marks threads as deadlocked once they have waited for each other long enough. The state begins when the cycle closed, which may have
// been in the previous window: there they are blocked.
func (e *Engine) confirm(now jvmthread.Time) {
	found := e.deadlocks.Confirm(now, e.builder.Start())
	for _, f := range found {
		for _, m := range f.Members {
			e.add(e.timeline.Deadlock(m.Thread, f.Cycle, f.Since))
		}
	}
	e.builder.AddDeadlocks(found)
}

// maxEmptyCuts bounds the windows cut in a row when time jumps. The next one is as long as the rest.
const maxEmptyCuts = 64

// cutUntil cuts the windows that end at or before the given time. After a window without a live thread it skips the rest: they have none, too.
func (e *Engine) cutUntil(at jvmthread.Time, yield Yield) {
	for n := 0; at >= e.builder.End() && e.builder.End() != math.MaxInt64; n++ {
		next := e.builder.End()
		if n >= maxEmptyCuts {
			next = max(next, at-window.Since(at, e.length, e.phase))
		}
		out := yield
		if e.away && e.last == e.builder.Start() && e.builder.Events() == 0 { // the other collector may have a window that starts there
			out = func(*window.Window) {}
		}
		shown := e.cutAt(next, window.CutTime, out)
		switch {
		case e.away: // the other collector has windows that start at multiples
			next, e.away = at, false
		case !shown:
			next = max(next, at-window.Since(at, e.length, e.phase))
		}
		e.builder.Next(next)
		if shown {
			e.checkpoint()
		}
	}
}

func (e *Engine) cut(at jvmthread.Time, why window.Cut, yield Yield) {
	shown := e.cutAt(at, why, yield)
	e.builder.Next(at)
	if shown {
		e.checkpoint()
	}
}

func (e *Engine) cutAt(at jvmthread.Time, why window.Cut, yield Yield) (shown bool) {
	e.confirm(at)
	ended := why == window.CutEnd || why == window.CutLost
	e.builder.AddHints(e.deadlocks.TakeHints(ended))
	if e.notifies != nil {
		e.builder.AddLostNotifies(e.notifies.Take(at, ended))
	}
	w := e.builder.Cut(at, why, e.timeline, e.binder)
	e.holds = 0
	if w == nil {
		return false
	}
	yield(w)
	e.timeline.Forget(w.Start, w.Start-memory)
	e.deadlocks.Expire()
	e.binder.Expire(w.Start - memory)
	if e.requests != nil {
		e.requests.Expire()
	}
	return true
}

// recently is what the threads did in the current window, up to the current event.
type recently Engine

// During implements [window.History].
func (e *recently) During(id jvmthread.ThreadID, all *window.Activities, from, to jvmthread.Time) {
	th := e.timeline.Thread(id)
	if th == nil {
		return
	}
	pauses := e.builder.Pauses(e.timeline.Thread(jvmthread.PausesThread), from, to)
	e.builder.During(th, all, from, to, pauses)
	if open := th.Piece(to); open.Start < to {
		all.Did(&open, from, to, pauses)
	}
}
