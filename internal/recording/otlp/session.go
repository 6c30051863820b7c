// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"fmt"
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// session holds the spans of a session back until those before them are read.
type session struct {
	*decoder

	about     recording.Session
	announced bool
	done      bool // the rest of its spans is late
	at        recording.Problem
	pieces    []piece
	windows   map[pcommon.TraceID]*span
	newest    jvmthread.Time // start of the newest window
	last      jvmthread.Time // up to which anything is known
	end       recording.End
	ids       map[pcommon.SpanID]jvmthread.ThreadID // of the spans that are held back
	older     map[pcommon.SpanID]jvmthread.ThreadID // of those passed on last
	threads   map[jvmthread.ThreadID]*thread
	byName    map[string]namesakes
	names     map[string]string              // interned
	active    []*thread                      // whose last state may have ended
	owners    map[waitKey]jvmthread.ThreadID // see resolve
	news      []jvmthread.Thread
	events    []jvmthread.Event
	calls     []jvmthread.Event // of the time of the last one
	floor     jvmthread.Time    // all earlier events were passed on
	late      uint64            // spans
	overlap   bool              // was reported
	crowded   bool              // was reported
	folded    folded
	noted     folded // when the session was announced
}

// span is the time of a window, as its root says.
type span struct{ start, end jvmthread.Time }

// folded is what has no span.
type folded struct {
	intervals, waits, threads window.Folded
	lost                      uint64 // events
	queued                    uint64 // waits for a carrier that no event can stand for
}

// namesakes are threads of one name: the first two.
type namesakes [2]jvmthread.ThreadID

// only returns the only thread of a name, or NoThread.
func (n namesakes) only() jvmthread.ThreadID {
	if n[1] != jvmthread.NoThread {
		return jvmthread.NoThread
	}
	return n[0]
}

// waitKey identifies a wait.
type waitKey struct {
	thread jvmthread.ThreadID
	began  jvmthread.Time
}

func newSession(d *decoder, about recording.Session) *session {
	return &session{
		decoder: d, about: about, windows: make(map[pcommon.TraceID]*span), ids: make(map[pcommon.SpanID]jvmthread.ThreadID),
		threads: make(map[jvmthread.ThreadID]*thread), byName: make(map[string]namesakes), names: make(map[string]string),
		owners: make(map[waitKey]jvmthread.ThreadID),
		floor:  math.MinInt64, newest: math.MinInt64,
	}
}

// add takes a span. Those that were sent twice count once.
func (s *session) add(sh *threadpdata.Shown) {
	if sh.Kind == threadpdata.ShownOther || sh.Start < 0 || sh.Start > jvmthread.Latest || sh.End > jvmthread.Latest {
		return
	}
	if s.done {
		s.late++
		return
	}
	if _, again := s.ids[sh.SpanID]; again {
		return
	}
	if _, again := s.older[sh.SpanID]; again {
		return
	}
	if len(s.ids) > 2*s.limit {
		s.older, s.ids = s.ids, make(map[pcommon.SpanID]jvmthread.ThreadID)
	}
	switch sh.Kind { //exhaustive:enforce
	case threadpdata.ShownOther:
	case threadpdata.ShownWindow:
		s.addWindow(sh)
	case threadpdata.ShownThread:
		s.ids[sh.SpanID] = sh.Thread.ID
		s.addThread(sh)
	case threadpdata.ShownState:
		s.ids[sh.SpanID] = sh.Thread.ID
		s.addState(sh)
	}
}

// maxWindows bounds the windows that are held back: those of two weeks.
const maxWindows = 1 << 17

// window returns the window of a trace; its end is NoTime until its root is read.
func (s *session) window(id pcommon.TraceID) *span {
	w := s.windows[id]
	if w == nil {
		if len(s.windows) >= maxWindows {
			clear(s.windows)
		}
		w = &span{}
		s.windows[id] = w
	}
	return w
}

func (s *session) addWindow(sh *threadpdata.Shown) {
	s.ids[sh.SpanID] = jvmthread.NoThread
	*s.window(sh.TraceID) = span{sh.WindowStart, sh.End}
	s.newest, s.last = max(s.newest, sh.WindowStart), max(s.last, sh.End)
	add(&s.folded.threads, &sh.FoldedThreads)
	add(&s.folded.waits, &sh.Contended)
	s.folded.lost = min(s.folded.lost+sh.Lost, jvmthread.MaxEvents)
	switch sh.Cut { // a collector that is stopped does not end a session
	case window.CutEnd:
		s.end = recording.End{Time: sh.End, Reason: threadpdata.EndExit}
	case window.CutLost:
		s.end = recording.End{Time: sh.End, Reason: threadpdata.EndLost}
	}
}

func add(sum, more *window.Folded) {
	sum.Count += more.Count
	sum.Time += more.Time
}

func (s *session) addThread(sh *threadpdata.Shown) {
	add(&s.folded.intervals, &sh.Folded)
	th := s.thread(&sh.Thread)
	if th == nil {
		return
	}
	s.define(th, &sh.Thread)
	w := s.window(sh.TraceID)
	known := w.end != jvmthread.NoTime
	if !sh.Unknown && (!known || w.began(sh.Start)) {
		s.hold(&piece{kind: threadBegins, start: sh.Start, thread: th.def.ID, window: w})
	}
	if !known || w.ended(sh.End) {
		s.hold(&piece{kind: threadEnds, start: sh.End, thread: th.def.ID, window: w})
	}
	s.links(sh, sh.Start, nil)
	for i := range sh.Calls {
		ev := &sh.Calls[i]
		if ev.Time < 0 || ev.Time > jvmthread.Latest {
			continue
		}
		ev.Lock.Class = s.class(sh.Classes[i])
		s.hold(&piece{kind: called, start: ev.Time, thread: th.def.ID, peer: ev.Peer, lock: ev.Lock, call: ev.Kind, direct: true})
	}
}

// began reports whether a thread whose span starts at a time began to run then: the spans of others start no later than the window.
func (w *span) began(at jvmthread.Time) bool { return w.end != jvmthread.NoTime && at > w.start }

// gap is by how much the spans of threads end before their window in any case.
const gap = 1000

// ended reports whether a thread whose span ends at a time ended then: the spans of others last until the end of the window, or a
// microsecond less.
func (w *span) ended(at jvmthread.Time) bool { return w.end != jvmthread.NoTime && at < w.end-gap }

func (s *session) addState(sh *threadpdata.Shown) {
	th := s.thread(&sh.Thread)
	if th == nil {
		return
	}
	if (sh.Pinned || sh.State == jvmthread.StateQueued) && !th.virtual {
		th.virtual = true
		s.define(th, &th.def)
	}
	if !th.defined { // its own span has more
		s.define(th, &jvmthread.Thread{ID: th.def.ID, Name: sh.Thread.Name})
	}
	p := piece{
		kind: inState, start: sh.Start, end: sh.End, began: sh.Began, waitBegan: sh.WaitBegan, thread: th.def.ID, state: sh.State, timeout: sh.Timeout,
		continues: sh.Continues || sh.Began < sh.Start, open: sh.Open, partial: sh.Partial, timedOut: sh.TimedOut, interrupted: sh.Interrupted, pinned: sh.Pinned, window: s.window(sh.TraceID),
	}
	if sh.State == jvmthread.StateRunnable {
		p.timeout, p.runQueue, p.hasCPU = sh.CPU, sh.RunQueue, sh.HasCPU
	}
	if sh.State.Stopped() {
		p.lock = jvmthread.LockID{Class: s.class(sh.Class), Hash: sh.Hash}
		p.peer = max(sh.Owner, sh.Joined)
		if p.peer == jvmthread.NoThread && sh.Lock {
			p.holder = s.name(sh.Holder)
		}
		p.stack = s.stacks.id(stackText{sh.Stack, sh.Function, sh.Entry, sh.LockName})
		if ownerStack := s.stacks.id(stackText{text: sh.OwnerStack}); ownerStack != jvmthread.NoStack || !sh.Context.IsZero() || !sh.OwnerSpan.IsZero() {
			p.more = &more{ownerStack: ownerStack, context: sh.Context, ownerContext: sh.OwnerSpan}
		}
	}
	s.last = max(s.last, sh.End)
	s.links(sh, sh.End, &p)
	s.hold(&p)
}

// class returns the id of a class, as far as a name is in spans.
func (s *session) class(name string) jvmthread.ClassID {
	return s.Options.Symbols.InternClassText([]byte(name), jvmthread.NoClass)
}

// name returns an interned name of a thread: it is on the spans of many waits.
func (s *session) name(name string) string {
	if known, ok := s.names[name]; ok {
		return known
	}
	if len(s.names) < recording.MaxThreads {
		s.names[name] = name
	}
	return name
}

// hold holds a piece back. It is late if events after it were passed on.
func (s *session) hold(p *piece) {
	if p.start < s.floor {
		s.late++
		return
	}
	s.pieces = append(s.pieces, *p)
	s.held++
}

// notes says what the session lacks, for people.
func (f *folded) notes() (lines []string) {
	count := func(what string, sum window.Folded) {
		if sum.Count > 0 {
			lines = append(lines, fmt.Sprintf("%s without a span: %d (%v)", what, sum.Count, sum.Time))
		}
	}
	count("intervals of threads", f.intervals)
	count("contended waits, among all of these,", f.waits)
	count("threads, in all windows,", f.threads)
	if f.lost > 0 {
		lines = append(lines, fmt.Sprintf("events lost before they became spans: %d", f.lost))
	}
	if f.queued > 0 {
		lines = append(lines, fmt.Sprintf("waits for a carrier that no thread is known to have begun: %d", f.queued))
	}
	if len(lines) == 0 {
		lines = append(lines, "each interval has a span")
	}
	return lines
}

// announce announces the session with what is known by now of what it lacks.
func (s *session) announce() {
	if s.announced {
		return
	}
	s.announced, s.noted = true, s.folded
	lines := s.folded.notes()
	for i := range lines {
		lines[i] = "spans: " + lines[i]
	}
	about := s.about
	about.Thresholds = append(lines, about.Thresholds...)
	s.Session(&about)
}

// finish passes on everything and ends the session.
func (s *session) finish() {
	s.release(math.MaxInt64)
	if s.newest != math.MinInt64 {
		s.announce() // if only to say what it lacks
	}
	s.done = true
	if !s.announced {
		return
	}
	if s.folded != s.noted { // more than was known when the session was announced
		p := s.at
		p.What = strings.Join(s.folded.notes(), ", ")
		p.Remedy = "set max_spans_per_window of thread_span to 0, or keep a recording"
		s.Problem(p)
	}
	if s.end.Reason != "" {
		s.End(s.end)
	}
	*s = session{decoder: s.decoder, about: s.about, at: s.at, late: s.late, done: true}
}

// lateness reports the spans that came too late to be read.
func (s *session) lateness() recording.Problem {
	p := s.at
	p.What = fmt.Sprintf("%d spans of session %v come after those of much later windows or of many other sessions, and are missing", s.late, s.about.ID)
	p.Remedy = "sort the lines of the file by time, or give each session a file of its own"
	return p
}
