// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/spanlines"
	"github.com/weft-otel/weft/internal/threadview/export"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// eventWriter writes recordings.
type eventWriter struct {
	*job

	format  *recording.Format
	out     *output
	encoder recording.Encoder // of the current session; nil: there is none
	text    []byte
	stats   recording.EncoderStats // of earlier sessions
}

func (w *eventWriter) begin(s *recording.Session) error {
	w.encoder = w.format.NewEncoder(recording.EncoderOptions{Symbols: w.symbols, Stacks: true})
	return w.write(w.encoder.Begin(w.text[:0], s))
}

func (w *eventWriter) batch(b *recording.Batch) error {
	if b.Aggregate != nil && !w.format.Carries.Aggregates {
		return nil
	}
	err := w.write(w.encoder.Batch(w.text[:0], b))
	for i := range b.Events {
		if b.Events[i].Kind == jvmthread.KindThreadEnd {
			w.symbols.DropThread(b.Events[i].Thread)
		}
	}
	return err
}

func (w *eventWriter) close(end *recording.End) error {
	if w.encoder == nil {
		return nil
	}
	if err := w.write(w.encoder.End(w.text[:0], end)); err != nil {
		return err
	}
	stats := w.encoder.Stats()
	for kind, n := range stats.Omitted {
		w.stats.Omitted[kind] += n
	}
	sides := w.encoder.Sidecars(true)
	w.encoder = nil
	return w.out.writeSides(sides)
}

func (w *eventWriter) write(text []byte) error {
	w.text = text
	_, err := w.out.Write(text)
	return err
}

func (w *eventWriter) omitted() [jvmthread.NumKinds]uint64 { return w.stats.Omitted }

// cutOf is why the last window of a session was cut.
func cutOf(end *recording.End) window.Cut {
	if end == nil {
		return window.CutLost
	}
	return window.CutEnd
}

// timeOf is when a session ended, if its recording says so.
func timeOf(end *recording.End) jvmthread.Time {
	if end == nil {
		return jvmthread.NoTime
	}
	return end.Time
}

// spanWriter writes the spans of thread_span.
type spanWriter struct {
	*job
	everything

	out   *output
	lines *spanlines.Writer // of the current session; nil: there is none
}

func (w *spanWriter) begin(s *recording.Session) error {
	options := spanlines.DefaultOptions()
	options.Forget = true
	w.lines = spanlines.New(w.out, s.ID, spanlines.Resource(s, w.in.format.Name), w.symbols, options)
	return nil
}

func (w *spanWriter) batch(b *recording.Batch) error {
	return w.lines.Batch(b.Events, b.Lost, b.Watermark)
}

func (w *spanWriter) close(end *recording.End) error {
	if w.lines == nil {
		return nil
	}
	lines := w.lines
	w.lines = nil
	return lines.Close(timeOf(end), cutOf(end))
}

// everything is for formats that take all events.
type everything struct{}

func (everything) omitted() (none [jvmthread.NumKinds]uint64) { return none }

// Limits of a session that becomes a trace of Perfetto. What was written is dropped when the store is full.
const (
	maxStored  = store.DefaultMaxBytes
	maxWaiting = 500_000 // intervals that are not written yet, in whole windows
)

// perfettoWriter writes a trace for Perfetto.
type perfettoWriter struct {
	*job
	everything

	out     *output
	trace   *export.Perfetto
	engine  *drive.Session // nil: there is no session, or it has ended
	stored  *store.Session
	from    jvmthread.Time // of what is not written yet
	parts   bool           // something was written
	waiting int            // intervals
	cut     bool           // a window since the last batch
	start   jvmthread.Time // of the last window
	failed  error
}

func (w *perfettoWriter) begin(s *recording.Session) error {
	options := sessions.DefaultOptions()
	cfg := options.Config().Engine
	cfg.Phase = window.Phase(s.ID, options.Window)
	resource := spanlines.Resource(s, w.in.format.Name)
	meta := make(store.Meta, resource.Attributes().Len())
	for key, value := range resource.Attributes().All() {
		meta[key] = value.AsString()
	}
	w.engine, w.trace = drive.New(cfg, w.symbols), export.NewPerfetto(w.out)
	w.stored = store.New(maxStored, nil).Open(s.ID, meta)
	return nil
}

func (w *perfettoWriter) batch(b *recording.Batch) error {
	w.engine.Batch(b.Events, b.Lost, b.Watermark, w.window)
	if w.cut {
		w.engine.DropDead(w.symbols, w.start)
	}
	w.cut = false
	return w.failed
}

// window stores a window, and writes what has come together.
func (w *perfettoWriter) window(win *window.Window) {
	defer win.Release()
	if w.failed != nil {
		return
	}
	w.stored.Append(win, w.symbols)
	for _, lane := range win.Lanes {
		w.waiting += lane.Intervals.Len()
	}
	w.cut, w.start = true, win.Start
	if w.waiting >= maxWaiting {
		sn := w.stored.Snapshot()
		w.failed = w.trace.WritePart(w.ctx, w.rest(sn, sn.To))
		w.from, w.parts, w.waiting = sn.To, true, 0
	}
}

// rest is the range of what is not written yet.
func (w *perfettoWriter) rest(sn *store.Snapshot, to jvmthread.Time) export.Range {
	from := w.from
	if !w.parts {
		from = sn.From
	}
	return export.Range{Snapshot: sn, From: from, To: to}
}

func (w *perfettoWriter) close(end *recording.End) error {
	if w.engine == nil {
		return nil
	}
	why := cutOf(end)
	w.engine.Close(timeOf(end), why, w.window)
	w.engine = nil
	w.stored.Close(why)
	if w.failed != nil {
		return w.failed
	}
	sn := w.stored.Snapshot()
	return w.trace.Write(w.ctx, w.rest(sn, sn.To+1))
}
