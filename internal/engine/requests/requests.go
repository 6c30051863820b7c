// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package requests finds the waits that delayed requests of the application: waits of threads that had a current span of it. They become
// spans in the request's own trace, so they are reported as soon as they end, not at the end of the window: a sampler that sees whole traces
// decides within seconds.
//
// A wait of at least Config.MinDuration is reported alone. Shorter ones of one thread for the same lock and the same span are a run, which is
// reported as one when it ends: with the span, or before a longer wait of the thread. The same holds for waits beyond Config.MaxPerSpan.
//
// It also finds the other side: the holds of a lock by a thread with a current span, for which others waited.
package requests

import (
	"cmp"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/engine/interaction"
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Config says what is reported.
type Config struct {
	MinDuration  time.Duration // of a wait, or of the waits of a run in sum
	MinCaused    time.Duration // that others waited in sum, for a hold
	MaxPerSpan   int           // waits that are reported alone, of one span on one thread
	MaxPerSecond int           // spans for the session, on average, a quarter of them for holds; as many may come at once. 0: only sums of requests
	MaxPins      int           // waits of a window whose spans in its trace can be linked to
}

// DefaultConfig returns what thread_span reports by default.
func DefaultConfig() Config {
	return Config{MinDuration: time.Millisecond, MinCaused: 10 * time.Millisecond, MaxPerSpan: 50, MaxPerSecond: 1000}
}

// Spans reports whether waits and holds are wanted.
func (c *Config) Spans() bool { return c.MaxPerSecond > 0 }

// Wait is a wait that delayed a request, or a run of them.
type Wait struct {
	Interval jvmthread.Interval // of a run: the longest wait
	Start    jvmthread.Time     // of the wait, or of the first one of a run
	End      jvmthread.Time     // of the last one of a run
	Count    int                // of the waits
	Time     time.Duration      // of all of them
	Detail   jvmthread.Detail   // with the span that waited
	Causes   []jvmthread.Interaction
	Holders  []Holder       // of a wait for something that others hold, longest first; of a run: of the longest wait
	Window   jvmthread.Time // start of the window in which it ended
	Pinned   bool           // it has a span in the window's trace
}

// Holder is a thread that held what a wait was for, and its request.
type Holder struct {
	window.Holder

	Span jvmthread.SpanContext // zero: none, or not known
}

// Held is a hold of a lock, a permit or an object of a pool by a request for which others waited.
type Held struct {
	Hold     jvmthread.Hold
	Start    jvmthread.Time // of the part of the hold in which the span was current and its thread did not wait itself
	End      jvmthread.Time
	Span     jvmthread.SpanContext
	Doing    jvmthread.Interval      // the longest interval of what the thread did longest meanwhile; Seq is NoSeq if that is not known
	Wait     jvmthread.Interval      // of the thread that has waited longest for it so far, or did last
	Threads  int                     // that waited for it
	Requests int                     // of these threads, those with a span
	Caused   time.Duration           // that they waited meanwhile, in sum
	Waiters  []jvmthread.SpanContext // of the requests that waited longest, at most maxWaiters
	Window   jvmthread.Time          // start of the window in which it ended
}

// maxWaiters bounds the requests that a hold names.
const maxWaiters = 5

// Report is what ended since the previous one.
type Report struct {
	Waits   []Wait
	Holds   []Held
	Ends    []End
	Dropped uint64 // over the limit of what has a span
}

// Tracker follows the requests of one session. One goroutine owns it, the same that owns the Timeline.
type Tracker struct {
	// Pin makes sure that a wait has a span in the trace of the current window.
	Pin func(th *timeline.Thread, seq jvmthread.Seq)

	window   jvmthread.Time // start of the current one
	pins     int            // in it
	cfg      Config
	timeline *timeline.Timeline
	binder   *interaction.Binder
	past     window.History
	active   bool // the application reports its spans
	queues   map[jvmthread.LockID]*queue
	waits    map[jvmthread.ThreadID]*queue // in which a thread is
	spare    []*queue
	threads  map[jvmthread.ThreadID]*thread
	report   Report
	forWaits budget // and for the ends of requests
	forHolds budget

	// Scratch:
	holds   []jvmthread.Hold
	spans   []jvmthread.SpanContext
	holders []window.Holder
	did     window.Activities
}

// New returns a Tracker. The history says what holders of locks did.
func New(cfg Config, tl *timeline.Timeline, binder *interaction.Binder, past window.History) *Tracker {
	return &Tracker{
		cfg: cfg, timeline: tl, binder: binder, past: past,
		queues: make(map[jvmthread.LockID]*queue), waits: make(map[jvmthread.ThreadID]*queue), threads: make(map[jvmthread.ThreadID]*thread),
		forWaits: budget{rate: int64(cfg.MaxPerSecond - cfg.MaxPerSecond/4)}, forHolds: budget{rate: int64(cfg.MaxPerSecond / 4)},
	}
}

// maxReport bounds the waits and holds of a report, whatever the rate.
const maxReport = 1 << 14

// Active reports whether the application has reported a span.
func (t *Tracker) Active() bool { return t.active }

// Take returns what ended since the previous call. It is valid until the next call of Apply.
func (t *Tracker) Take() *Report { return &t.report }

// Window notes the start of the current window.
func (t *Tracker) Window(start jvmthread.Time) {
	if start != t.window {
		t.window, t.pins = start, 0
	}
}

// Reset forgets what Take returned.
func (t *Tracker) Reset() {
	clear(t.report.Waits)
	clear(t.report.Holds)
	clear(t.report.Ends)
	t.report = Report{Waits: t.report.Waits[:0], Holds: t.report.Holds[:0], Ends: t.report.Ends[:0]}
}

// Apply follows an event that the other packages have applied. closed is the interval of its thread that it ended, with Seq NoSeq if there is
// none; causes are the interactions that it completed, holds the holds.
func (t *Tracker) Apply(
	ev *jvmthread.Event, th *timeline.Thread, closed *jvmthread.Interval, causes []jvmthread.Interaction, holds []jvmthread.Hold,
) {
	if !t.active {
		if ev.Span.IsZero() {
			return
		}
		t.active = true
	}
	for i := range holds {
		t.held(&holds[i], closed)
	}
	switch {
	case ev.Kind == jvmthread.KindContext:
		t.changed(ev.Thread, ev.Span, ev.Time)
	case ev.Kind == jvmthread.KindOwnerContext:
		t.owned(th.Open(), ev.Span)
	case ev.Kind == jvmthread.KindRequestEnd:
		t.requestEnded(ev)
	case ev.Kind == jvmthread.KindGap:
		t.lose(th)
	case ev.Kind == jvmthread.KindThreadEnd:
		t.leave(th, closed)
		t.changed(ev.Thread, jvmthread.SpanContext{}, ev.Time)
		delete(t.threads, ev.Thread)
	case closed.Seq != jvmthread.NoSeq && th != nil:
		t.moved(th, closed, causes)
	}
}

// Woken follows the end of the wait of another thread than that of the event, which was applied before.
func (t *Tracker) Woken(th *timeline.Thread, closed *jvmthread.Interval, causes []jvmthread.Interaction) {
	if t.active {
		t.moved(th, closed, causes)
	}
}

// moved follows a thread that is in another state.
func (t *Tracker) moved(th *timeline.Thread, closed *jvmthread.Interval, causes []jvmthread.Interaction) {
	if closed.Wait != jvmthread.WaitNone {
		t.wait(closed, th.ClosedDetail(), causes)
	}
	t.leave(th, closed)
	if t.cfg.Spans() && window.HasHolders(th.Open().Wait) {
		t.begun(th)
	}
}

// Close reports the waits that are still open at the end of the session.
func (t *Tracker) Close(at jvmthread.Time) {
	if !t.active {
		return
	}
	first := len(t.report.Waits)
	for th := range t.timeline.Threads {
		if iv := th.Piece(at); !th.Dead() && iv.Wait != jvmthread.WaitNone && at > iv.Start {
			t.wait(&iv, th.Detail(), nil)
		}
	}
	for id := range t.threads {
		t.changed(id, jvmthread.SpanContext{}, at)
	}
	slices.SortFunc(t.report.Waits[first:], func(a, b Wait) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Interval.Thread, b.Interval.Thread))
	})
}

// budget limits a rate by the time of the events.
type budget struct {
	rate int64 // a second
	used int64 // nanoseconds' worth, falling with time
	last jvmthread.Time
}

// take reports whether there is room for one more, in the given part of a second's worth: always, if nothing is used.
func (b *budget) take(now jvmthread.Time, part time.Duration) bool {
	each := int64(time.Second) / max(1, b.rate)
	if now > b.last {
		b.used = max(0, b.used-int64(now-b.last))
		b.last = now
	}
	if b.used > 0 && b.used+each > int64(part) {
		return false
	}
	b.used += each
	return true
}

// allow reports whether something of a duration may be added to the report, and counts it if not. In a burst, the short waits leave half of
// the budget to those that take at least ten times the minimum, and these a quarter to those that take a hundred times.
func (t *Tracker) allow(b *budget, now jvmthread.Time, took time.Duration) bool {
	part := time.Second
	switch {
	case took < 10*t.cfg.MinDuration:
		part /= 2
	case took < 100*t.cfg.MinDuration:
		part -= part / 4
	}
	if len(t.report.Waits)+len(t.report.Holds) < maxReport && b.take(now, part) {
		return true
	}
	t.report.Dropped++
	return false
}
