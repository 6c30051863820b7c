// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package engine answers: what came of the events of one session? It is the assembly line of the packages beside it: ordering puts the
// events in order, timeline makes intervals of them, interaction binds causes and effects, window cuts slices. Components feed it parts
// of batches and take windows from it.
package engine

import (
	"math"
	"time"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Config sizes an engine.
type Config struct {
	Window     time.Duration
	Ordering   ordering.Limits
	Limits     window.Limits
	MaxThreads int
	MaxLocks   int
}

// DefaultConfig is what the processor's defaults come to.
func DefaultConfig() Config {
	return Config{
		Window: 10 * time.Second, Ordering: ordering.DefaultLimits(), Limits: window.DefaultLimits(),
		MaxThreads: timeline.DefaultMaxThreads, MaxLocks: interaction.DefaultMaxLocks,
	}
}

// memory is for how long a cause waits for its effect, such as a start for the new thread's first event, and an idle lock is remembered.
const memory = jvmthread.Time(time.Minute)

// Yield is given each window that is complete. The window is good until it returns.
type Yield func(*window.Window)

// Engine follows one session. One goroutine owns it.
type Engine struct {
	queue        *ordering.Queue
	timeline     *timeline.Timeline
	binder       *interaction.Binder
	deadlocks    *deadlock.Detector
	builder      *window.Builder
	length       jvmthread.Time
	refused      uint64
	last         jvmthread.Time          // of the last event
	see          func([]jvmthread.Event) // nil: nobody watches
	closed       []jvmthread.Interval
	interactions []jvmthread.Interaction
}

// New returns an engine for a session that has not begun.
func New(cfg Config) *Engine {
	tl := timeline.New(cfg.MaxThreads)
	binder := interaction.New(tl, cfg.MaxLocks)
	return &Engine{
		queue: ordering.New(cfg.Ordering), timeline: tl, binder: binder, deadlocks: deadlock.New(tl, binder),
		builder: window.NewBuilder(cfg.Window, cfg.Limits), length: jvmthread.Time(cfg.Window), last: math.MinInt64,
	}
}

// Add takes a part of a batch and copies its events. It reports whether the part was new.
func (e *Engine) Add(p ordering.Part) bool { return e.queue.Add(p) }

// AddBatch adds a whole batch: events of any threads, in the order of time, before the watermark. The number is that of the batch, from 1; before
// is the number of events in all earlier ones. A gap of no thread is not an event: it is made of what before says. It returns the before of the next batch.
func (e *Engine) AddBatch(number, before uint64, watermark jvmthread.Time, events []jvmthread.Event) (next uint64) {
	next = before
	byThread := make(map[jvmthread.ThreadID][]jvmthread.Event)
	for i := range events {
		ev := &events[i]
		switch {
		case ev.Thread == jvmthread.NoThread:
			before += uint64(max(0, ev.Arg))
			next += uint64(max(0, ev.Arg))
			continue
		case ev.Kind != jvmthread.KindGap:
			next++
		}
		byThread[ev.Thread] = append(byThread[ev.Thread], *ev)
	}
	part := ordering.Part{Batch: number, Parts: uint32(max(1, len(byThread))), Watermark: watermark, Before: before}
	if len(byThread) == 0 {
		e.Add(part)
	}
	for _, part.Events = range byThread {
		e.Add(part)
		part.Part++
	}
	return next
}

// Advance goes as far as what was added allows.
func (e *Engine) Advance(yield Yield) {
	e.apply(e.queue.Ready(), yield)
	if e.builder.Begun() {
		e.cutUntil(e.queue.Watermark(), yield)
		e.confirm(e.queue.Watermark())
	}
}

// Stalled reports whether a batch is missing; Skip gives it up.
func (e *Engine) Stalled() bool { return e.queue.Stalled() }

// Awaits returns the number of the batch that is missing while the engine is stalled.
func (e *Engine) Awaits() uint64 { return e.queue.Awaits() }

// Skip gives up the batches that are missing.
func (e *Engine) Skip(yield Yield) {
	e.queue.Skip()
	e.Advance(yield)
}

// End returns why the session ended, empty while it goes on.
func (e *Engine) End() string { return e.queue.End() }

// Close takes what is left and cuts the last window.
func (e *Engine) Close(why window.Cut, yield Yield) {
	e.apply(e.queue.Rest(), yield)
	if !e.builder.Begun() {
		return
	}
	at := max(e.last, e.queue.Watermark())
	e.cutUntil(at, yield)
	e.cut(at, why, yield)
}

// Timeline is where the threads stand; for reading only.
func (e *Engine) Timeline() *timeline.Timeline { return e.timeline }

// Now is the time up to which everything is known.
func (e *Engine) Now() jvmthread.Time { return max(e.last, e.queue.Watermark()) }

// Deadlocks returns the deadlocks that stand now, in the order in which they were found. The slice is good until the next call.
func (e *Engine) Deadlocks() []deadlock.Found { return e.deadlocks.Standing() }

// TakeDeadlocks appends the deadlocks that were found since it was last called, whether they stand or not.
func (e *Engine) TakeDeadlocks(out []deadlock.Found) []deadlock.Found { return e.deadlocks.Take(out) }

// HeldLocks calls yield for each lock that somebody is blocked on now and whose owner is known, in no order.
func (e *Engine) HeldLocks(yield func(interaction.Held) bool) { e.binder.Held(yield) }

// Locks is the number of locks that are remembered.
func (e *Engine) Locks() int { return e.binder.Locks() }

// Held estimates the bytes that the engine takes for what it holds now: events that wait, the window, threads and locks.
func (e *Engine) Held() int {
	const perEvent, perInterval, perThread, perLock = 72, 64, 256, 256
	return perEvent*e.queue.Held() + perInterval*e.builder.Held() + perThread*e.timeline.Len() + perLock*e.binder.Locks()
}

// Counters says what was odd, by package.
type Counters struct {
	Ordering    ordering.Counters
	Timeline    timeline.Counters
	Interaction interaction.Counters
	Deadlock    deadlock.Counters
	Refused     uint64 // events of one moment that a window had no room for
}

// Counters returns what was odd so far.
func (e *Engine) Counters() Counters {
	return Counters{e.queue.Counters(), e.timeline.Counters(), e.binder.Counters(), e.deadlocks.Counters(), e.refused}
}

// Watch has all events given to see, in the order of time and before they are applied. The slice is good until see returns. It is called before
// anything is added.
func (e *Engine) Watch(see func([]jvmthread.Event)) { e.see = see }

func (e *Engine) apply(events []jvmthread.Event, yield Yield) {
	if e.see != nil && len(events) > 0 {
		e.see(events)
	}
	for i := range events {
		ev := &events[i]
		e.builder.Begin(ev.Time)
		if ev.Time >= e.builder.End() {
			e.cutUntil(ev.Time, yield)
		}
		switch {
		case !e.builder.Full():
		case ev.Time > e.last:
			e.cut(ev.Time, window.CutSize, yield)
		case e.builder.Overfull(): // a window cannot be cut twice at the same time, and no JVM has so much to say of one moment
			e.refused++
			continue
		}
		if e.deadlocks.Due(ev.Time) {
			e.confirm(ev.Time)
		}
		e.last = ev.Time
		e.builder.Count(ev)
		e.step(ev)
	}
}

func (e *Engine) step(ev *jvmthread.Event) {
	var ok bool
	var th *timeline.Thread
	if e.closed, th, ok = e.timeline.Apply(ev, e.closed[:0]); !ok {
		return
	}
	closed := new(jvmthread.Interval) // of the event's own thread
	switch {
	case th != nil && len(e.closed) == 1 && e.closed[0].Thread == ev.Thread:
		closed = &e.closed[0]
	default:
		e.add(e.closed)
	}
	e.interactions = e.binder.Apply(ev, th, closed, e.interactions[:0])
	if closed.Seq != jvmthread.NoSeq {
		e.builder.Add(th, closed)
	}
	for i := range e.interactions {
		to := th
		if id := e.interactions[i].To.Thread; id != ev.Thread {
			to = e.timeline.Thread(id)
		}
		if to != nil {
			e.builder.AddInteraction(to, &e.interactions[i])
		}
	}
	e.deadlocks.Apply(ev)
}

// add takes intervals of several threads.
func (e *Engine) add(list []jvmthread.Interval) {
	for i := range list {
		e.builder.Add(e.timeline.Thread(list[i].Thread), &list[i])
	}
}

// confirm makes the threads deadlocked that have been waiting for each other for long enough, from when their cycle closed: or from where
// the current window begins, if it closed before that.
func (e *Engine) confirm(now jvmthread.Time) {
	found := e.deadlocks.Confirm(now, e.builder.Start())
	for _, f := range found {
		e.closed = e.closed[:0]
		for _, m := range f.Members {
			e.closed = e.timeline.Deadlock(m.Thread, f.Cycle, max(f.Since, e.builder.Start()), e.closed)
		}
		e.add(e.closed)
	}
	e.builder.AddDeadlocks(found)
}

// maxEmptyCuts bounds the windows that are made at once when time jumps while a thread is stuck.
const maxEmptyCuts = 64

// cutUntil cuts the windows that end at the given time or earlier. When nothing happened in one, the windows after it are empty too.
func (e *Engine) cutUntil(at jvmthread.Time, yield Yield) {
	for n := 0; at >= e.builder.End() && e.builder.End() != math.MaxInt64; n++ {
		next := e.builder.End()
		shown := e.cutAt(next, window.CutTime, yield)
		if !shown || n >= maxEmptyCuts {
			next = max(next, at-at%e.length)
		}
		e.builder.Next(next)
	}
}

func (e *Engine) cut(at jvmthread.Time, why window.Cut, yield Yield) {
	e.cutAt(at, why, yield)
	e.builder.Next(at)
}

func (e *Engine) cutAt(at jvmthread.Time, why window.Cut, yield Yield) (shown bool) {
	e.confirm(at)
	e.builder.AddHints(e.deadlocks.TakeHints)
	w := e.builder.Cut(at, why, e.timeline, e.binder)
	if w == nil {
		return false
	}
	yield(w)
	e.timeline.Forget(w.Start, w.Start-memory)
	e.deadlocks.Expire()
	e.binder.Expire(w.Start - memory)
	return true
}
