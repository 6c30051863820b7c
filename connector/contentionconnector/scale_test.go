// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contentionconnector

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// many returns a batch in which each thread blocks once for 1 ms, on a lock of a separate class.
func many(session uint16, threads int, end string) ptrace.Traces {
	sym := symbols.New(symbols.DefaultLimits())
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "orders")
	ss := rs.ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(ss.Scope())
	c := threadpdata.Carrier{Session: jvmthread.SessionID{1, byte(session >> 8), byte(session)}, Batch: 1, Watermark: epoch + 1e9, End: end}
	for i := range threads {
		lock := jvmthread.LockID{Class: sym.InternClass("com.acme.Lock" + string(rune('A'+i%26)) + pcommon.NewValueInt(int64(i)).AsString()), Hash: 1}
		id := jvmthread.ThreadID(i + 2)
		c.Threads = append(c.Threads, jvmthread.Thread{ID: id, Name: "pool-" + pcommon.NewValueInt(int64(i)).AsString()})
		c.Events = append(c.Events,
			jvmthread.Event{Time: epoch + 1e6, Thread: id, Kind: jvmthread.KindContendedEnter, Lock: lock, Peer: 1},
			jvmthread.Event{Time: epoch + 2e6, Thread: id, Kind: jvmthread.KindContendedEntered, Lock: lock})
	}
	c.AppendTo(ss.Spans(), sym)
	return td
}

// blocked returns the sum of weft.lock.blocked.time, the number of its points and the number of overflow points.
func blocked(all []pmetric.Metrics) (seconds float64, points, overflow int) {
	for _, md := range all {
		for _, m := range md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
			if m.Name() != "weft.lock.blocked.time" {
				continue
			}
			for _, p := range m.Sum().DataPoints().All() {
				seconds += p.DoubleValue()
				points++
				if _, ok := p.Attributes().Get("otel.metric.overflow"); ok {
					overflow++
				}
			}
		}
	}
	return seconds, points, overflow
}

// One JVM with 10 000 classes and threads has the permitted number of series and one for overflow, and the sum is complete.
func TestManyClasses(t *testing.T) {
	const threads = 10_000
	p := start(t, nil, nil)
	p.consume(t, many(0, threads, threadpdata.EndExit))
	seconds, points, overflow := blocked(p.points.AllMetrics())
	assert.EqualValues(t, threads*time.Millisecond, math.Round(seconds*1e9))
	assert.Equal(t, 2000+1, points)
	assert.Equal(t, 1, overflow)
	p.stop(t)
}

// 1 000 JVMs share the permitted number of series, and all sums are complete.
func TestManySessions(t *testing.T) {
	const sessions, threads, limit = 1000, 20, 5000
	p := start(t, func(c *Config) {
		c.MaxSeriesTotal, c.Sessions.Window = limit, time.Second
		c.FlushInterval, c.Sessions.SessionTimeout = time.Hour, time.Hour // however slow the machine is
	}, nil)
	for i := range uint16(sessions) {
		p.consume(t, many(i, threads, ""))
	}
	p.consume(t, many(sessions, threads, ""))
	assert.Equal(t, int64(sessions), p.own(t, "sessions"))
	assert.Equal(t, int64(2*threads), p.own(t, "events_lost"), "the session over the limit is refused and counted")
	assert.Positive(t, p.own(t, "held"))
	assert.Equal(t, int64(limit), p.own(t, "series"))
	require.Empty(t, p.points.AllMetrics())
	p.stop(t)
	seconds, points, overflow := blocked(p.points.AllMetrics())
	assert.EqualValues(t, sessions*threads*time.Millisecond, math.Round(seconds*1e9))
	assert.Less(t, points, limit+sessions)
	assert.Positive(t, overflow)
	assert.Zero(t, p.own(t, "series"))
	assert.Zero(t, p.own(t, "held"))
}
