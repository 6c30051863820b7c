// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package outlettest provides a consumer for tests of the receiver's output.
package outlettest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/receivertest"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/metadata"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
)

// Patience is the time limit for actions that are immediate unless the machine is busy.
const Patience = 5 * time.Minute

// Hello opens a session of the service orders at wall-clock time 1 ms.
const Hello = `preamble version=1
hello session=a1b2c3d4e5f60718293a4b5c6d7e8f90 wall=1000000 monotonic=0 pid=42 "service.name"="orders"
`

// New returns an outlet to next that records metrics in tel, unless that is nil.
func New(tb testing.TB, tel *componenttest.Telemetry, next consumer.Traces) *outlet.Outlet {
	tb.Helper()
	set := receivertest.NewNopSettings(metadata.Type)
	if tel != nil {
		set.TelemetrySettings = tel.NewTelemetrySettings()
	}
	out, err := outlet.New(set, "", next)
	require.NoError(tb, err)
	return out
}

// Sink keeps the traces it consumes. Answer, if set, may reject them.
type Sink struct {
	Got    chan ptrace.Traces
	Answer func(context.Context, ptrace.Traces) error
}

// NewSink returns a sink that accepts everything.
func NewSink() *Sink { return &Sink{Got: make(chan ptrace.Traces, 1000)} }

// Capabilities implements consumer.Traces.
func (*Sink) Capabilities() consumer.Capabilities { return consumer.Capabilities{MutatesData: true} }

// ConsumeTraces implements consumer.Traces.
func (s *Sink) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	if s.Answer != nil {
		if err := s.Answer(ctx, traces); err != nil {
			return err
		}
	}
	s.Got <- traces
	return nil
}

// Next waits for the next traces and describes them.
func (s *Sink) Next(tb testing.TB) string {
	tb.Helper()
	select {
	case traces := <-s.Got:
		return Describe(tb, traces)
	case <-time.After(Patience):
		require.FailNow(tb, "nothing was delivered")
		return ""
	}
}

// Describe returns the contents of carriers as text, one line for each carrier and event.
func Describe(tb testing.TB, traces ptrace.Traces) string {
	tb.Helper()
	var b strings.Builder
	sym := symbols.New(symbols.DefaultLimits())
	require.Equal(tb, 1, traces.ResourceSpans().Len())
	rs := traces.ResourceSpans().At(0)
	session, ok := rs.Resource().Attributes().Get("weft.session.id")
	require.True(tb, ok)
	require.Equal(tb, 1, rs.ScopeSpans().Len())
	require.True(tb, threadpdata.IsCarrier(rs.ScopeSpans().At(0).Scope()))
	for _, span := range rs.ScopeSpans().At(0).Spans().All() {
		var c threadpdata.Carrier
		require.NoError(tb, threadpdata.Parse(span, sym, &c))
		require.Equal(tb, session.Str(), c.Session.String())
		fmt.Fprintf(&b, "batch %d watermark %d before %d", c.Batch, c.Watermark, c.Before)
		if c.Clock != (wire.Clock{}) {
			fmt.Fprintf(&b, " clock %d at %d", c.Clock.Wall, c.Clock.Monotonic)
		}
		if c.End != "" {
			fmt.Fprintf(&b, " end %s", c.End)
		}
		for _, th := range c.Threads {
			fmt.Fprintf(&b, " thread %d %s", th.ID, th.Name)
		}
		if a := c.Aggregate; a != nil {
			fmt.Fprintf(&b, " from %d to %d scale %d", a.From, a.To, a.Scale)
			for _, s := range a.Series {
				fmt.Fprintf(&b, "\n  %s %s %q sum %d max %d zero %d from %d %d", s.Kind, sym.Class(s.Class), sym.Stack(s.Stack), s.Sum, s.Max, s.Zero, s.Offset, s.Buckets)
			}
		}
		b.WriteByte('\n')
		for _, ev := range c.Events {
			describeEvent(&b, sym, &ev)
		}
	}
	return b.String()
}

func describeEvent(b *strings.Builder, sym *symbols.Table, ev *jvmthread.Event) {
	fmt.Fprintf(b, "  %d %s thread %d", ev.Time, ev.Kind, ev.Thread)
	if ev.Peer != 0 {
		fmt.Fprintf(b, " peer %d", ev.Peer)
	}
	if !ev.Lock.IsZero() {
		fmt.Fprintf(b, " lock %s %x", sym.Class(ev.Lock.Class), ev.Lock.Hash)
	}
	if ev.Arg != 0 {
		fmt.Fprintf(b, " arg %d", ev.Arg)
	}
	if ev.Stack != 0 {
		fmt.Fprintf(b, " stack %q", sym.Stack(ev.Stack))
	}
	b.WriteByte('\n')
}
