// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package engine turns the events of one session into windows. It connects the packages below it: timeline turns events into intervals,
// interaction binds causes to effects, deadlock finds cycles, and window cuts the result into slices. Its driver pushes events in the order of
// time and receives windows.
package engine

import (
	"math"
	"time"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/engine/lostnotify"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Config sizes an engine.
type Config struct {
	Window     time.Duration
	Phase      jvmthread.Time  // of the windows; see window.Phase
	Ordering   ordering.Limits // of the driver's queue
	Limits     window.Limits
	MaxThreads int
	MaxLocks   int
	Rules      *waits.Rules     // of what threads wait for
	Requests   *requests.Config // nil: waits of requests are not reported
	Exact      bool             // the owners of locks are those of a moment: a cycle is a deadlock at once
}

// DefaultConfig returns the processor's defaults.
func DefaultConfig() Config {
	return Config{
		Window: 10 * time.Second, Ordering: ordering.DefaultLimits(), Limits: window.DefaultLimits(),
		MaxThreads: timeline.DefaultMaxThreads, MaxLocks: interaction.DefaultMaxLocks, Rules: waits.NewRules(waits.Config{}),
	}
}

// memory is how long a cause waits for its effect, such as a start for the new thread's first event, and how long an idle lock is kept.
const memory = jvmthread.Time(time.Minute)

// Yield receives each complete window, which is valid until it returns.
type Yield func(*window.Window)

// Engine follows one session. One goroutine owns it.
type Engine struct {
	waits     *waits.Classifier
	timeline  *timeline.Timeline
	binder    *interaction.Binder
	deadlocks *deadlock.Detector
	builder   *window.Builder
	requests  *requests.Tracker  // nil: not wanted
	notifies  *lostnotify.Finder // nil: not wanted
	symbols   *symbols.Table     // may be nil
	holds     int                // of the binder that were passed on since the last cut
	length    jvmthread.Time
	phase     jvmthread.Time
	refused   uint64
	last      jvmthread.Time // of the last event
	watermark jvmthread.Time
	away      bool // the last event said that the session was at another collector
	untouched bool // no event since Restore
	watchers  []func([]jvmthread.Event)
	save      func(*State) // nil: no checkpoints
}

// New returns an engine for a new session. The names of its classes and its stacks are in the table; nil: they are not known.
func New(cfg Config, sym *symbols.Table) *Engine {
	var classifier *waits.Classifier
	if sym != nil {
		classifier = cfg.Rules.Of(sym)
	}
	tl := timeline.New(cfg.MaxThreads, classifier)
	binder := interaction.New(tl, cfg.MaxLocks)
	e := &Engine{
		waits: classifier, symbols: sym, timeline: tl, binder: binder, deadlocks: deadlock.New(tl, binder, classifier),
		builder: window.NewBuilder(cfg.Window, cfg.Phase, cfg.Limits), length: jvmthread.Time(cfg.Window), phase: cfg.Phase, last: math.MinInt64, watermark: math.MinInt64,
	}
	if cfg.Exact {
		e.deadlocks.SetGrace(1)
	}
	if cfg.Requests != nil {
		e.requests = requests.New(*cfg.Requests, tl, binder, (*recently)(e))
		e.requests.Pin = e.builder.Pin
	}
	return e
}

// Push processes the next events, in the order of time, and yields the windows that they complete. All events before the watermark have been
// pushed. The engine does not change the events, which several engines may share.
func (e *Engine) Push(events []jvmthread.Event, watermark jvmthread.Time, yield Yield) {
	e.apply(events, yield)
	e.watermark = watermark
	if e.builder.Begun() {
		e.cutUntil(watermark, yield)
		e.confirm(watermark)
	}
}

// Finish processes the remaining events and cuts the last window, at the watermark or at the last event.
func (e *Engine) Finish(rest []jvmthread.Event, watermark jvmthread.Time, why window.Cut, yield Yield) {
	if why == window.CutShutdown || why == window.CutLost {
		// The session may continue elsewhere before the end of the rest, and would have another window that starts there, with the same IDs.
		e.builder.Extend()
	}
	e.apply(rest, yield)
	e.watermark = watermark
	if !e.builder.Begun() {
		return
	}
	at := e.Now()
	if e.untouched && why == window.CutShutdown { // the next life has a window that starts there, with the same IDs
		return
	}
	e.cutUntil(at, yield)
	if e.requests != nil {
		e.requests.Window(e.builder.Start())
		e.requests.Close(at)
	}
	e.cut(at, why, yield)
}

// Shrink cuts the current window at the watermark, unless it has just begun, and frees what the next window may not need.
func (e *Engine) Shrink(yield Yield) {
	if e.builder.Begun() && e.watermark > e.last && e.watermark > e.builder.Start() {
		e.cut(e.watermark, window.CutMemory, yield)
		e.builder.Shrink()
	}
}

// Waits returns the classifier of the session's waits, nil if the engine has no names.
func (e *Engine) Waits() *waits.Classifier { return e.waits }

// Timeline returns the current states of the threads, for reading only.
func (e *Engine) Timeline() *timeline.Timeline { return e.timeline }

// Now returns the time up to which the engine has processed events.
func (e *Engine) Now() jvmthread.Time { return max(e.last, e.watermark) }

// Requests returns what follows the requests of the session, nil if that is not wanted.
func (e *Engine) Requests() *requests.Tracker { return e.requests }

// Deadlocks returns the current deadlocks in the order of their detection. The slice is valid until the next call.
func (e *Engine) Deadlocks() []deadlock.Found { return e.deadlocks.Standing() }

// TakeDeadlocks appends the deadlocks found since the previous call, including those that have ended.
func (e *Engine) TakeDeadlocks(out []deadlock.Found) []deadlock.Found { return e.deadlocks.Take(out) }

// HeldLocks calls yield for each lock that has a known owner and blocked threads, in no particular order.
func (e *Engine) HeldLocks(yield func(interaction.Held) bool) { e.binder.Held(yield) }

// Locks returns the number of locks the engine keeps.
func (e *Engine) Locks() int { return e.binder.Locks() }

// Held estimates the bytes in use: the current window, threads and locks, and what is remembered of names.
func (e *Engine) Held() int {
	const perThread, fixed = 400, 32 << 10 // of an engine: caches of what was looked up last
	held := fixed + e.builder.Held() + perThread*e.timeline.Len() + e.binder.Bytes() + e.waits.Held()
	if e.notifies != nil {
		held += e.notifies.Held()
	}
	return held
}

// Counters are the anomalies of a session, by package.
type Counters struct {
	Timeline    timeline.Counters
	Interaction interaction.Counters
	Deadlock    deadlock.Counters
	Refused     uint64 // events of one instant that did not fit into a window
}

// Counters returns the anomalies so far.
func (e *Engine) Counters() Counters {
	return Counters{e.timeline.Counters(), e.binder.Counters(), e.deadlocks.Counters(), e.refused}
}

// Watch calls see with all events in time order, before they are applied. The slice is valid until see returns. Call Watch before Push.
func (e *Engine) Watch(see func([]jvmthread.Event)) { e.watchers = append(e.watchers, see) }

// FindLostNotifies makes windows have the notifies that no thread heard. Call it before Push.
func (e *Engine) FindLostNotifies() {
	if e.notifies == nil {
		e.notifies = lostnotify.New(e.countsAsWait)
	}
}

// countsAsWait reports whether a thread of the application begins to wait for something else than its next task.
func (e *Engine) countsAsWait(ev *jvmthread.Event) bool {
	return e.symbols == nil || !e.symbols.Thread(ev.Thread).OfJVM() &&
		!e.waits.Wait(&jvmthread.Interval{State: jvmthread.StateWaiting, Lock: ev.Lock, Stack: ev.Stack}).Idle()
}

// DropDead drops threads from the symbols that had ended before a time, when no window needs their names any longer.
func (e *Engine) DropDead(sym *symbols.Table, before jvmthread.Time) {
	for th := range e.timeline.Threads {
		if th.Dead() && th.Open().Start < before {
			sym.DropThread(th.Open().Thread)
		}
	}
}
