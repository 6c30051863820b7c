// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package export answers: how does a session get into other tools? It writes a range of a session as a native recording, as the spans of
// thread_span, or as a Perfetto trace.
package export

import (
	"cmp"
	"context"
	"io"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/spanlines"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// Range is a part of a session.
type Range struct {
	*store.Snapshot

	From, To jvmthread.Time
}

// Native writes the events of the range as a native recording. Its readers join the session in the middle, since earlier events are missing.
func Native(ctx context.Context, w io.Writer, r Range) error {
	enc := native.NewEncoder(recording.EncoderOptions{Symbols: r.Symbols(), Stacks: true})
	session := r.Meta.Session(r.ID)
	buf := enc.Begin(nil, &session)
	var failed error
	err := r.Replay(r.From, r.To, func(b *store.Block, events []jvmthread.Event) bool {
		batch := recording.Batch{Watermark: b.End}
		for _, ev := range events {
			switch {
			case ev.Time < r.From || ev.Time >= r.To:
			case ev.Thread == jvmthread.NoThread: // a gap of all threads
				batch.Lost += uint64(max(0, ev.Arg))
			default:
				batch.Events = append(batch.Events, ev)
			}
		}
		buf = enc.Batch(buf, &batch)
		_, failed = w.Write(buf)
		buf = buf[:0]
		return failed == nil && ctx.Err() == nil
	})
	if err = cmp.Or(err, failed, ctx.Err()); err != nil {
		return err
	}
	var end *recording.End
	if !r.Live && r.To >= r.Snapshot.To {
		end = &recording.End{Time: r.Snapshot.To, Reason: threadpdata.EndExit}
		if r.Ended != window.CutEnd {
			end.Reason = threadpdata.EndLost
		}
	}
	_, err = w.Write(enc.End(buf, end))
	return err
}

// Spans writes the spans that thread_span makes in windows of the given length, for all windows that overlap the range. Unless windows were
// evicted, they equal those of max_spans_per_window 0, including ids; incidents and spans for the traces of the application are missing.
func Spans(ctx context.Context, w io.Writer, r Range, length time.Duration) error {
	s := &respanner{Range: r, w: w, length: max(length, 10*time.Millisecond), symbols: r.Symbols()}
	err := r.Replay(r.Snapshot.From, r.Snapshot.To+1, func(b *store.Block, events []jvmthread.Event) bool {
		s.play(b, events)
		return s.err == nil && ctx.Err() == nil && b.Start < r.To
	})
	s.close(r.EndedBy())
	return cmp.Or(err, s.err, ctx.Err())
}

// respanner makes spans from events.
type respanner struct {
	Range

	w       io.Writer
	length  time.Duration
	symbols *symbols.Table
	lines   *spanlines.Writer // nil: none yet
	begin   jvmthread.Time
	err     error
}

// play applies the events of a window. It uses a new engine wherever the session did.
func (s *respanner) play(b *store.Block, events []jvmthread.Event) {
	if s.lines == nil || s.begin != b.Begin {
		s.close(window.CutLost)
		options := spanlines.Options{Sessions: sessions.DefaultOptions(), Wanted: s.wanted}
		options.Sessions.Window = s.length
		resource := pcommon.NewResource()
		for key, value := range s.Meta {
			resource.Attributes().PutStr(key, value)
		}
		s.lines, s.begin = spanlines.New(s.w, s.ID, resource, s.symbols, options), b.Begin
	}
	s.err = cmp.Or(s.err, s.lines.Batch(events, 0, b.End))
}

func (s *respanner) wanted(w *window.Window) bool { return w.End > s.From && w.Start < s.To }

func (s *respanner) close(why window.Cut) {
	if s.lines != nil {
		s.err = cmp.Or(s.err, s.lines.Close(jvmthread.NoTime, why))
		s.lines = nil
	}
}
