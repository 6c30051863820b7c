// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// download answers a session as a file.
func (v *View) download(w http.ResponseWriter, r *http.Request) {
	sn, p := v.snapshot(r)
	if p != nil {
		v.fail(w, p)
		return
	}
	q := newQuery(v, sn, r.URL.Query())
	q.ctx = r.Context()
	format := q.choice("format", "native", "otlp", "perfetto")
	if p := q.done(); p != nil {
		v.fail(w, p)
		return
	}
	done, p := v.enter(r.Context(), v.files)
	if p != nil {
		v.fail(w, p)
		return
	}
	defer done()
	out := bufio.NewWriterSize(w, 1<<16)
	switch format {
	case "native":
		v.attach(w, sn, "recording.weft")
		v.flush(q.writeNative(out), out)
	case "otlp":
		v.attach(w, sn, "spans.json")
		v.flush(q.writeSpans(out), out)
	default:
		v.attach(w, sn, "threads.pftrace")
		v.flush(q.writePerfetto(out), out)
	}
}

func (v *View) flush(err error, out *bufio.Writer) {
	if err == nil {
		err = out.Flush()
	}
	v.finish(err)
}

// writeNative writes the events of the range as a native recording. What came before the range is not in it, so that whoever reads it joins the
// session in its middle.
func (q *query) writeNative(w io.Writer) error {
	enc := native.NewEncoder(recording.EncoderOptions{Symbols: q.sn.Symbols(), Stacks: true})
	session := &recording.Session{ID: q.sn.ID}
	if pid, err := strconv.ParseUint(q.sn.Meta["process.pid"], 10, 32); err == nil {
		session.PID = uint32(pid)
	}
	for _, key := range slices.Sorted(maps.Keys(q.sn.Meta)) {
		session.Attributes = append(session.Attributes, recording.Attribute{Key: key, Value: q.sn.Meta[key]})
	}
	buf := enc.Begin(nil, session)
	told := make([]bool, len(q.sn.Threads))
	var failed error
	err := q.sn.Replay(q.from, q.to, func(b *store.Block, events []jvmthread.Event) bool {
		batch := recording.Batch{Watermark: b.End}
		for i := range events {
			ev := &events[i]
			if ev.Time < q.from || ev.Time >= q.to {
				continue
			}
			if ev.Thread == jvmthread.NoThread { // a gap of all threads
				batch.Lost += uint64(max(0, ev.Arg))
				continue
			}
			for _, id := range [2]jvmthread.ThreadID{ev.Thread, ev.Peer} {
				if th := q.sn.Thread(id); th != 0 && !told[th] {
					told[th] = true
					batch.Threads = append(batch.Threads, q.sn.Threads[th].Thread)
				}
			}
			batch.Events = append(batch.Events, *ev)
		}
		buf = enc.Batch(buf, &batch)
		_, failed = w.Write(buf)
		buf = buf[:0]
		return failed == nil && q.ctx.Err() == nil
	})
	if err != nil || failed != nil {
		return errorOf(err, failed)
	}
	var end *recording.End
	if !q.sn.Live && q.to >= q.sn.To {
		end = &recording.End{Time: q.sn.To, Reason: threadpdata.EndExit}
		if q.sn.Ended != window.CutEnd {
			end.Reason = threadpdata.EndLost
		}
	}
	_, err = w.Write(enc.End(buf, end))
	return err
}

func errorOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// writeSpans writes the spans that thread_span makes of the session, with all of their windows that overlap the range: a line of OTLP JSON for each. As
// long as nothing has left the store, they are those of max_spans_per_window 0, with the same ids.
func (q *query) writeSpans(w io.Writer) error {
	s := &respanner{q: q, w: w, symbols: q.sn.Symbols()}
	err := q.sn.Replay(q.sn.From, q.sn.To+1, func(b *store.Block, events []jvmthread.Event) bool {
		s.play(b, events)
		return s.err == nil && q.ctx.Err() == nil && b.Start < q.to
	})
	s.close(q.sn.EndedBy())
	return errorOf(err, s.err)
}

// respanner makes the spans of events again.
type respanner struct {
	q       *query
	w       io.Writer
	symbols *symbols.Table
	engine  *engine.Engine // nil: none yet
	emitter *threadpdata.Emitter
	finder  *window.Finder
	begin   jvmthread.Time
	batch   uint64
	before  uint64
	err     error
}

// play applies the events of a window. Where another engine began, another begins here.
func (s *respanner) play(b *store.Block, events []jvmthread.Event) {
	if s.engine == nil || s.begin != b.Begin {
		s.close(window.CutLost)
		options := sessions.DefaultOptions()
		options.Window = max(s.q.view.cfg.TraceWindow, 10*time.Millisecond)
		cfg := options.Config()
		s.engine, s.begin, s.batch, s.before = engine.New(cfg.Engine), b.Begin, 0, 0
		s.emitter, s.finder = threadpdata.NewEmitter(s.q.sn.ID, s.symbols), options.NewFinder(s.symbols)
	}
	s.batch++
	s.before = s.engine.AddBatch(s.batch, s.before, b.End, events)
	s.engine.Advance(s.write)
}

func (s *respanner) close(why window.Cut) {
	if s.engine != nil {
		s.engine.Close(why, s.write)
		s.engine = nil
	}
}

// write writes a window.
func (s *respanner) write(w *window.Window) {
	if s.err != nil || w.End <= s.q.from || w.Start >= s.q.to {
		return
	}
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	for key, value := range s.q.sn.Meta {
		rs.Resource().Attributes().PutStr(key, value)
	}
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName(threadpdata.ScopeSpans)
	path := threadpdata.Prepare(w, s.finder, 0)
	s.emitter.Append(w, path, ss.Spans())
	var m ptrace.JSONMarshaler
	body, err := m.MarshalTraces(td)
	if err == nil {
		_, err = s.w.Write(append(body, '\n'))
	}
	s.err = err
}
