// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// A large window is sent in pieces, of which the first has the root.
func TestLargeWindowsAreSentInPieces(t *testing.T) {
	seconds := make([]int, 2500) // within an hour
	for i := range seconds {
		seconds[i] = i
	}
	p := start(t, func(cfg *Config) { cfg.Sessions.MaxSpansPerWindow, cfg.Sessions.Window = 0, time.Hour }, nil)
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, threadpdata.EndExit, seconds...)))
	p.stop(t)
	p.metric(t, "otelcol_processor_thread_span_windows", 1)
	got := names(p.sink.AllTraces())
	p.metric(t, "otelcol_processor_thread_span_spans", int64(len(got)))
	assert.Greater(t, len(got), 2*maxPiece)
	assert.Equal(t, "threads", got[0])
	all := p.sink.AllTraces()
	require.Len(t, all, (len(got)+maxPiece-1)/maxPiece)
	for _, td := range all {
		assert.LessOrEqual(t, td.SpanCount(), maxPiece)
		service, _ := td.ResourceSpans().At(0).Resource().Attributes().Get("service.name")
		assert.Equal(t, "orders", service.Str())
		assert.Equal(t, all[0].ResourceSpans().At(0).ScopeSpans().At(0).Scope().Name(), td.ResourceSpans().At(0).ScopeSpans().At(0).Scope().Name())
	}
}

func withoutPaths(cfg *Config) { cfg.Sessions.CriticalPath.Mode = sessions.PathOff }

// What follows a piece that is rejected is sent nevertheless; what is lost is counted.
func TestRejectedPiecesAreCounted(t *testing.T) {
	seconds := make([]int, 2500) // within an hour
	for i := range seconds {
		seconds[i] = i
	}
	calls := 0
	var taken []string
	next, err := consumer.NewTraces(func(_ context.Context, td ptrace.Traces) error {
		if calls++; calls == 2 {
			return consumererror.NewPermanent(errors.New("too large"))
		}
		taken = append(taken, names([]ptrace.Traces{td})...)
		return nil
	})
	require.NoError(t, err)
	p := start(t, func(cfg *Config) { cfg.Sessions.MaxSpansPerWindow, cfg.Sessions.Window = 0, time.Hour }, next)
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, threadpdata.EndExit, seconds...)))
	p.stop(t)
	assert.Equal(t, "threads", taken[0])
	p.metric(t, "otelcol_processor_thread_span_windows", 1)
	p.metric(t, "otelcol_processor_thread_span_windows_refused", 1)
	p.metric(t, "otelcol_processor_thread_span_spans_refused", maxPiece)
	p.metric(t, "otelcol_processor_thread_span_spans", int64(len(taken)+maxPiece))
	p.metric(t, "otelcol_processor_thread_span_held", 0)
}

// A piece that the next consumer rejects for the moment is repeated for a second, and only the part that it did not take. While everything is
// rejected, nothing is repeated.
func TestPiecesAreRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full, calls := errors.New("queue is full"), 0
		var answers []error
		next, err := consumer.NewTraces(func(_ context.Context, td ptrace.Traces) error {
			calls++
			if len(answers) == 0 {
				return full
			}
			answer := answers[0]
			answers = answers[1:]
			if answer != nil {
				return answer
			}
			assert.Equal(t, 1, td.SpanCount())
			return nil
		})
		require.NoError(t, err)
		p := &threadSpan{next: next}
		of := func(spans int) ptrace.Traces {
			td := ptrace.NewTraces()
			to := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
			for range spans {
				to.AppendEmpty()
			}
			return td
		}
		answers = []error{full, consumererror.NewTraces(full, of(1)), full, nil}
		require.NoError(t, p.consume(t.Context(), of(2)))
		assert.Equal(t, 4, calls)

		begin := time.Now()
		require.ErrorIs(t, p.consume(t.Context(), of(1)), full)
		assert.LessOrEqual(t, time.Since(begin), repeatFor)
		begin, calls = time.Now(), 0
		require.ErrorIs(t, p.consume(t.Context(), of(1)), full)
		assert.Zero(t, time.Since(begin))
		assert.Equal(t, 1, calls)

		answers = []error{nil, full, nil}
		require.NoError(t, p.consume(t.Context(), of(1)))
		require.NoError(t, p.consume(t.Context(), of(1)))
		calls = 0
		answers = []error{consumererror.NewPermanent(full)}
		require.ErrorIs(t, p.consume(t.Context(), of(1)), full)
		assert.Equal(t, 1, calls)
	})
}

// While the disk of the next consumer's queue is full or broken, spans wait; nothing is dropped.
func TestPiecesWaitForADisk(t *testing.T) {
	for _, reason := range []error{syscall.ENOSPC, syscall.EIO, syscall.EROFS} {
		synctest.Test(t, func(t *testing.T) {
			begin, calls := time.Now(), 0
			next, err := consumer.NewTraces(func(context.Context, ptrace.Traces) error {
				if calls++; time.Since(begin) < time.Hour {
					return fmt.Errorf("put: %w", &fs.PathError{Op: "write", Path: "queue", Err: reason})
				}
				return nil
			})
			require.NoError(t, err)
			core, log := observer.New(zap.InfoLevel)
			p := &threadSpan{next: next, logger: zap.New(core)}
			p.rejecting.Store(true) // for another reason
			require.NoError(t, p.consume(t.Context(), ptrace.NewTraces()))
			assert.GreaterOrEqual(t, time.Since(begin), time.Hour)
			assert.Less(t, time.Since(begin), time.Hour+mostRepeat)
			assert.Less(t, calls, 400)
			require.Len(t, log.All(), 2)
			assert.Equal(t, "The next consumer cannot store spans; windows wait", log.All()[0].Message)
			assert.Equal(t, "The next consumer stores spans again", log.All()[1].Message)

			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			begin = time.Now()
			calls = 0
			require.ErrorIs(t, p.consume(ctx, ptrace.NewTraces()), reason)
			assert.Equal(t, 1, calls)
		})
	}
}

// The next root says what was lost before it, and the one after that only what was lost since.
func TestRootsSayWhatWasRefused(t *testing.T) {
	refused, calls := make(chan int, 1), 0
	sink := new(consumertest.TracesSink)
	next, err := consumer.NewTraces(func(ctx context.Context, td ptrace.Traces) error {
		if calls++; calls == 1 {
			refused <- td.SpanCount()
			return consumererror.NewPermanent(errors.New("invalid"))
		}
		return sink.ConsumeTraces(ctx, td)
	})
	require.NoError(t, err)
	p := start(t, withoutPaths, next)
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 1, "", 0, 12)))
	lost := <-refused
	require.NoError(t, p.ConsumeTraces(t.Context(), batch(one, 2, threadpdata.EndExit, 45, 65)))
	p.stop(t)
	var said []int64
	for _, td := range sink.AllTraces() {
		root := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
		v, _ := root.Attributes().Get("weft.spans.refused")
		said = append(said, v.Int())
	}
	require.Greater(t, len(said), 2)
	assert.Equal(t, append([]int64{int64(lost)}, make([]int64, len(said)-1)...), said)
}
