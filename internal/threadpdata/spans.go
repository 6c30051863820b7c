// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/recent"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// ScopeSpans is the name of the instrumentation scope of thread spans.
const ScopeSpans = "github.com/weft-otel/weft"

// Emitter turns the windows of one session into spans. One goroutine owns it.
type Emitter struct {
	Calls *Calls // to show as events of the threads' spans; nil: none
	// Shift returns by how much the wall clock of the JVM is ahead of a time of the session, since it was set; nil: it was not.
	Shift          func(at jvmthread.Time) jvmthread.Time
	CompleteStacks bool // with the frames between those of the application

	session   jvmthread.SessionID
	sym       *symbols.Table
	waits     *waits.Classifier
	names     names
	rootNames fewNames // of incidents
	holdNames fewNames
	titles    map[titleKey]string
	doings    map[doingKey]string
	classes   map[jvmthread.ClassID]string // simple names
	text      []byte                       // of the current attribute; reused

	// Of the window that is being written:
	window  *window.Window
	by      jvmthread.Time // Shift
	trace   pcommon.TraceID
	base    uint64                   // windowHash
	blocked map[string]time.Duration // by title of the wait
	lanes   []lane
	early   jvmthread.Time // by which the root starts before the window
	plan    plan           // of the current span; reused

	threads recent.Cache[jvmthread.ThreadID, string] // their names
}

// NewEmitter returns an Emitter for a session whose names and stacks are in the table, with the session's classifier of waits; nil: the
// default one.
func NewEmitter(session jvmthread.SessionID, sym *symbols.Table, classifier *waits.Classifier) *Emitter {
	return &Emitter{
		session: session, sym: sym, waits: classifier.Or(sym), names: newNames(), rootNames: fewNames{}, holdNames: fewNames{}, titles: make(map[titleKey]string),
		doings: make(map[doingKey]string), classes: make(map[jvmthread.ClassID]string),
		blocked: make(map[string]time.Duration),
	}
}

// Held estimates the bytes of the names and texts that the emitter remembers.
func (e *Emitter) Held() int {
	const perText, perEntry = 160, 100 // with the key, and the room of its map
	return perText*(len(e.titles)+len(e.doings)+len(e.names.known)+len(e.names.path)) +
		perEntry*(len(e.names.objects)+len(e.classes)+len(e.blocked)+len(e.rootNames)+len(e.holdNames)) + cap(e.text)
}

// Append writes the trace of a window: a root, the lane of the critical path with the given segments (as Prepare returns them), a span for
// each thread, and below it a span for each interval that the window keeps. The same window always gives the same spans in the same order.
func (e *Emitter) Append(w *window.Window, segments []criticalpath.Segment, dst ptrace.SpanSlice) {
	e.Stream(w, segments, whole(dst))
}

// Stream is Append in pieces. Window and emitter belong to it until it returns; next of the pieces may call Announce only.
func (e *Emitter) Stream(w *window.Window, segments []criticalpath.Segment, dst *Pieces) {
	dst.expect(countSpans(w, segments))
	e.window, e.trace, e.base = w, TraceID(e.session, w.Start), windowHash(e.session, w.Start)
	e.by = e.shift(w.Start)
	e.threads.Clear() // threads may have new names
	if e.Calls != nil {
		defer e.Calls.end(e.Calls.begin(w))
	}
	for p := range e.plans(w, segments) {
		p.lookUp(w)
		e.describe(p)
		s := dst.append()
		e.connect(p, s)
		e.write(p, s)
		move(s, e.by)
	}
	e.window = nil
}

func countSpans(w *window.Window, segments []criticalpath.Segment) int {
	n := 2 + len(segments)
	for _, l := range w.Lanes {
		if l.Hidden {
			continue
		}
		n++
		for i := range l.Intervals.Len() {
			if l.Kept(i) {
				n++
			}
		}
	}
	return n
}
