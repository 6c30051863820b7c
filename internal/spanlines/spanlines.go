// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package spanlines answers: which spans would thread_span create from these events? It writes them as lines of OTLP JSON, each an
// ExportTraceServiceRequest, as the collector's file exporter does. They are those of max_spans_per_window 0, including ids.
package spanlines

import (
	"io"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// Options say which spans are written.
type Options struct {
	Sessions  sessions.Options
	Incidents *incident.Options         // nil: without incidents
	Requests  *requests.Config          // nil: without spans for the traces of the application
	Wanted    func(*window.Window) bool // nil: all windows
	Forget    bool                      // drop threads from the symbols when they have ended and their windows are written
}

// DefaultOptions are those of thread_span by default.
func DefaultOptions() Options {
	i, r := incident.DefaultOptions(), requests.DefaultConfig()
	return Options{Sessions: sessions.DefaultOptions(), Incidents: &i, Requests: &r}
}

// Resource describes the JVM of a recording in a format as jvm_thread does.
func Resource(session *recording.Session, format string) pcommon.Resource {
	res := pcommon.NewResource()
	threadpdata.FillResource(res, session.ID, session.PID, session.Attributes)
	threadpdata.MarkRecording(res, format, session)
	return res
}

// Writer writes the spans of one session. One goroutine owns it.
type Writer struct {
	to        io.Writer
	options   Options
	resource  pcommon.Resource
	symbols   *symbols.Table
	engine    *drive.Session
	emitter   *threadpdata.Emitter
	finder    *window.Finder
	incidents *incident.Finder
	spans     int
	cut       bool           // a window since the last call of forget
	start     jvmthread.Time // of the last window
	err       error

	// Of the window that is being written:
	found *incident.Found
	line  ptrace.Traces
	begun bool // there is a line that is not written yet
	root  bool // it begins with the root of the window
}

// New returns a Writer for a session that begins, or that its source has lost before.
func New(to io.Writer, session jvmthread.SessionID, resource pcommon.Resource, sym *symbols.Table, options Options) *Writer {
	cfg := options.Sessions.Config().Engine
	cfg.Phase = window.Phase(session, options.Sessions.Window)
	if options.Requests != nil {
		r := *options.Requests
		r.MaxPins = window.MaxPins(0)
		cfg.Requests = &r
	}
	w := &Writer{
		to: to, options: options, resource: resource, symbols: sym, engine: drive.New(cfg, sym), finder: options.Sessions.NewFinder(sym),
	}
	w.emitter = threadpdata.NewEmitter(session, sym, w.engine.Waits())
	if options.Incidents != nil {
		w.incidents = sessions.NewIncidents(*options.Incidents, w.engine.Waits())
	}
	return w
}

// Batch takes events and writes the windows that they complete. Lost events are missing before them; none before the watermark will follow.
func (w *Writer) Batch(events []jvmthread.Event, lost uint64, watermark jvmthread.Time) error {
	w.engine.Batch(events, lost, watermark, w.window)
	w.requests()
	w.forget()
	return w.err
}

// Close writes the last window. Until is the end of the session; jvmthread.NoTime: that of its last event or watermark.
func (w *Writer) Close(until jvmthread.Time, why window.Cut) error {
	w.engine.Close(until, why, w.window)
	w.requests()
	return w.err
}

// Spans is how many were written.
func (w *Writer) Spans() int { return w.spans }

// window writes the spans of a window, in lines of limited size.
func (w *Writer) window(win *window.Window) {
	defer win.Release()
	if w.err == nil && (w.options.Wanted == nil || w.options.Wanted(win)) {
		segments := threadpdata.Prepare(win, w.finder, 0)
		w.root, w.found = true, nil
		if w.incidents != nil {
			w.found = w.incidents.Find(win)
		}
		pieces := threadpdata.NewPieces(threadpdata.MaxPiece, w.next)
		w.emitter.Stream(win, segments, pieces)
		if w.found != nil {
			w.emitter.StreamIncidents(w.found, pieces)
		}
		w.flush()
	}
	w.cut, w.start = true, win.Start
}

// forget drops the threads that no later window or request needs.
func (w *Writer) forget() {
	if w.cut && w.options.Forget {
		w.engine.DropDead(w.symbols, w.start)
	}
	w.cut = false
}

// requests writes the spans for the traces of the application that have ended.
func (w *Writer) requests() {
	t := w.engine.Requests()
	if t == nil {
		return
	}
	defer t.Reset()
	r := t.Take()
	if w.err == nil && len(r.Waits)+len(r.Holds)+len(r.Ends) > 0 {
		w.root = false
		w.emitter.AppendRequests(r, w.next())
		w.flush()
	}
}

// next writes the current line and begins another one.
func (w *Writer) next() ptrace.SpanSlice {
	w.flush()
	w.line, w.begun = ptrace.NewTraces(), true
	rs := w.line.ResourceSpans().AppendEmpty()
	w.resource.CopyTo(rs.Resource())
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName(threadpdata.ScopeSpans)
	return ss.Spans()
}

func (w *Writer) flush() {
	if !w.begun {
		return
	}
	w.begun = false
	spans := w.line.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	if w.root && w.found != nil {
		w.emitter.Announce(w.found, spans.At(0))
	}
	w.root = false
	if w.err != nil || spans.Len() == 0 {
		return
	}
	var m ptrace.JSONMarshaler
	body, err := m.MarshalTraces(w.line)
	if err == nil {
		_, err = w.to.Write(append(body, '\n'))
	}
	w.spans += spans.Len()
	w.err = err
}
