// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/wire"
)

// requestBatch returns the carrier of a second in which a request waits for 100 ms for a lock that another thread holds. It begins half a second
// after the second, and takes 300 ms.
func requestBatch(number int, clock wire.Clock) ptrace.Traces {
	at := epoch + jvmthread.Time(number)*second + second/2
	const ms = jvmthread.Time(time.Millisecond)
	lock := jvmthread.LockID{Hash: 5}
	span := jvmthread.SpanContext{TraceID: [16]byte{0: 1, 15: byte(number)}, SpanID: [8]byte{7: byte(number)}}
	c := threadpdata.Carrier{
		Session: one, Batch: uint64(number), Before: 4 * uint64(number-1), Watermark: at + 400*ms, Clock: clock,
		Events: []jvmthread.Event{
			{Time: at, Thread: 7, Kind: jvmthread.KindContext, Span: span},
			{Time: at + 100*ms, Thread: 7, Kind: jvmthread.KindContendedEnter, Lock: lock, Peer: 8},
			{Time: at + 200*ms, Thread: 7, Kind: jvmthread.KindContendedEntered, Lock: lock},
			{Time: at + 300*ms, Thread: 7, Kind: jvmthread.KindContext},
		},
	}
	if number == lastBatch {
		c.End = threadpdata.EndExit
	}
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(ss.Scope())
	c.AppendTo(ss.Spans(), symbols.New(symbols.DefaultLimits()))
	return td
}

// spansWithClock returns the spans of a session whose wall clock is read as clocks say, by the number of the batch since which carriers have that,
// by their IDs.
func spansWithClock(t *testing.T, clocks map[int]wire.Clock) map[[24]byte]ptrace.Span {
	t.Helper()
	p := start(t, nil, nil)
	var clock wire.Clock
	for n := 1; n <= lastBatch; n++ {
		if next, ok := clocks[n]; ok {
			clock = next
		}
		require.NoError(t, p.ConsumeTraces(t.Context(), requestBatch(n, clock)))
	}
	p.stop(t)
	spans := make(map[[24]byte]ptrace.Span)
	for _, td := range p.sink.AllTraces() {
		eachSpan(td, func(_ string, s ptrace.Span) {
			trace, span := s.TraceID(), s.SpanID()
			id := [24]byte(append(trace[:], span[:]...))
			assert.NotContains(t, spans, id, "nothing comes twice")
			spans[id] = s
		})
	}
	return spans
}

// clockAt is a reading of clocks at a time of the session.
func clockAt(at jvmthread.Time, ahead time.Duration) wire.Clock {
	return wire.Clock{Monotonic: int64(at), Wall: int64(at) + int64(ahead)}
}

// Windows and requests that begin after the wall clock was set have the new time. All else is as if it had not been set.
func TestWallClockIsSet(t *testing.T) {
	undisturbed := spansWithClock(t, nil)
	const first, again = 12, 25
	read := func(n int) jvmthread.Time { return epoch + jvmthread.Time(n)*second }
	for _, ahead := range []time.Duration{time.Second, -time.Second, 6 * time.Hour, -6 * time.Hour, 10 * time.Minute} {
		for _, back := range []bool{false, true} {
			clocks := map[int]wire.Clock{first: clockAt(read(first), ahead)}
			if back {
				clocks[again] = clockAt(read(again), time.Millisecond)
			}
			expected := func(at jvmthread.Time) time.Duration {
				switch {
				case at < read(first):
					return 0
				case back && at >= read(again):
					return time.Millisecond
				default:
					return ahead
				}
			}
			got := spansWithClock(t, clocks)
			require.Len(t, got, len(undisturbed))
			starts := make(map[pcommon.TraceID]jvmthread.Time) // of windows, without steps
			for _, s := range undisturbed {
				if value, ok := s.Attributes().Get("weft.window.start"); ok {
					starts[s.TraceID()] = jvmthread.Time(value.Int())
				}
			}
			require.Len(t, starts, 4)
			moved := 0
			for id, was := range undisturbed {
				s, ok := got[id]
				require.True(t, ok, "%s", was.Name())
				began, inWindow := starts[was.TraceID()]
				if at := jvmthread.Time(was.StartTimestamp()); isRequest(was) {
					began = at
					inParent(t, s, expected(read(int(was.TraceID()[15]))+second/2))
				} else if !inWindow { // an incident, which is as the window in which it ended
					for _, start := range starts {
						if start <= at {
							began = max(began, start)
						}
					}
				}
				by := expected(began)
				if by != 0 {
					moved++
				}
				assert.Equal(t, asMoved(t, was, by), asMoved(t, s, 0), "%s by %v", was.Name(), by)
			}
			assert.Greater(t, moved, 20)
			assert.Less(t, moved, len(got))
		}
	}
}

func isRequest(s ptrace.Span) bool {
	trace := s.TraceID()
	return trace == pcommon.TraceID{0: 1, 15: trace[15]}
}

// inParent checks that a span of a request is within the span of the application, which has the wall clock of its start.
func inParent(t *testing.T, s ptrace.Span, ahead time.Duration) {
	t.Helper()
	start := epoch + jvmthread.Time(s.TraceID()[15])*second + second/2 + jvmthread.Time(ahead)
	assert.GreaterOrEqual(t, jvmthread.Time(s.StartTimestamp()), start)
	assert.LessOrEqual(t, jvmthread.Time(s.EndTimestamp()), start+3*second/10)
}

// asMoved returns a span with all of its times moved, as JSON. A root that was moved says so.
func asMoved(t *testing.T, s ptrace.Span, by time.Duration) string {
	t.Helper()
	td := ptrace.NewTraces()
	m := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	s.CopyTo(m)
	moved := func(at pcommon.Timestamp) pcommon.Timestamp { return pcommon.Timestamp(int64(at) + int64(by)) }
	m.SetStartTimestamp(moved(m.StartTimestamp()))
	m.SetEndTimestamp(moved(m.EndTimestamp()))
	for _, ev := range m.Events().All() {
		ev.SetTimestamp(moved(ev.Timestamp()))
	}
	for _, key := range []string{"weft.window.start", "weft.interval.start", "weft.wait.start"} {
		if value, ok := m.Attributes().Get(key); ok {
			m.Attributes().PutInt(key, value.Int()+int64(by))
		}
	}
	if _, root := m.Attributes().Get("weft.window.start"); root && by != 0 {
		m.Attributes().PutInt("weft.clock.shift", int64(by))
	}
	attributes := fmt.Sprint(m.Attributes().AsRaw()) // in the order of keys
	m.Attributes().Clear()
	data, err := (&ptrace.JSONMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	return string(data) + attributes
}
