// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package export answers: how does a session get into other tools? It writes a range of a session as a native recording, as the spans of
// thread_span, or as a Perfetto trace.
package export

import (
	"cmp"
	"context"
	"io"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/threadpdata"
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
