// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wire"
)

var carried = jvmthread.SessionID{0xa1, 0xb2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

// Heartbeats and ends of sessions are carriers without events; the latter may describe threads, too.
func TestCarrierWithoutEvents(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	c := Carrier{
		Session: carried, Batch: 6, Watermark: 9000, Before: 17, End: EndLost,
		Threads: []jvmthread.Thread{{ID: 12, Name: "owner", Group: "main", Daemon: true, Virtual: true, Carrier: true, Foreign: "12"}},
	}
	span := toSpan(&c, sym)
	attributes := span.Attributes().AsRaw()
	delete(attributes, "weft.raw.batch.bytes")
	assert.Equal(t, map[string]any{"weft.raw.version": int64(1), "weft.raw.batch.events": int64(0), "weft.raw.end": "lost"}, attributes)
	assert.EqualValues(t, 9000, span.StartTimestamp())

	var got Carrier
	require.NoError(t, Parse(span, sym, &got))
	assert.Equal(t, describe(&c, sym), describe(&got, sym))
	assert.Empty(t, got.Events)
}

func TestSpanIDsDifferAndAreStable(t *testing.T) {
	seen := make(map[pcommon.SpanID]bool)
	for batch := range uint64(1000) {
		for _, end := range []string{"", EndLost} {
			id := carrierID(&Carrier{Session: carried, Batch: batch, End: end})
			assert.NotZero(t, id[0])
			assert.False(t, seen[id])
			seen[id] = true
		}
	}
	assert.Equal(t, "d17fc6564371ef01", carrierID(&Carrier{Session: carried, Batch: 1}).String())
}

// A carrier survives a round trip through bytes and another symbol table.
func TestCarrierRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	here, there := symbols.New(symbols.DefaultLimits()), symbols.New(symbols.DefaultLimits())
	var got Carrier
	for range 500 {
		c := randomCarrier(random, here)
		traces := ptrace.NewTraces()
		scope := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
		MarkCarriers(scope.Scope())
		c.AppendTo(scope.Spans(), here)
		bytes, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
		require.NoError(t, err)
		read, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(bytes)
		require.NoError(t, err)

		scope = read.ResourceSpans().At(0).ScopeSpans().At(0)
		require.True(t, IsCarrier(scope.Scope()))
		require.NoError(t, Parse(scope.Spans().At(0), there, &got))
		assert.Equal(t, describe(c, here), describe(&got, there))
	}
}

func TestOtherScopesAreNotCarriers(t *testing.T) {
	scope := pcommon.NewInstrumentationScope()
	assert.False(t, IsCarrier(scope))
	scope.SetName("github.com/weft-otel/weft")
	assert.False(t, IsCarrier(scope))
}

func TestResourceIdentifiesTheSession(t *testing.T) {
	res := pcommon.NewResource()
	FillResource(res, carried, 42, []wire.Attribute{
		{Key: "host.name", Value: "shop-1"}, {Key: "process.pid", Value: "7"}, {Value: "x"}, {Key: "empty"},
	})
	assert.Equal(t, map[string]any{
		"service.name": "unknown_service:java", "service.instance.id": carried.String(), "host.name": "shop-1",
		"process.pid": int64(42), "weft.session.id": carried.String(),
	}, res.Attributes().AsRaw())
}

func FuzzParse(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	sym := symbols.New(symbols.DefaultLimits())
	for range 20 {
		traces := ptrace.NewTraces()
		spans := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
		c := randomCarrier(random, sym)
		c.AppendTo(spans, sym)
		PutMAC(spans.At(0), MAC{byte(random.Uint32())})
		bytes, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
		require.NoError(f, err)
		f.Add(bytes)
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		traces, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(bytes)
		if err != nil {
			return
		}
		sym := symbols.New(symbols.DefaultLimits())
		var c, again Carrier
		for _, rs := range traces.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					_, _ = MACOf(span)
					signed := AppendSigned(nil, span)
					if err := Parse(span, sym, &c); err != nil {
						assert.NotEmpty(t, err.Error())
						continue
					}
					require.NoError(t, Parse(toSpan(&c, sym), sym, &again))
					assert.Equal(t, describe(&c, sym), describe(&again, sym))
					id := span.SpanID()
					id[0] ^= 1
					span.SetSpanID(id)
					assert.NotEqual(t, signed, AppendSigned(nil, span))
				}
			}
		}
	})
}

func randomAggregate(random *rand.Rand, sym *symbols.Table) *jvmthread.Aggregate {
	kinds := []jvmthread.Kind{
		jvmthread.KindContendedEnter, jvmthread.KindWait, jvmthread.KindWaited, jvmthread.KindJoinStart, jvmthread.KindSleepStart, jvmthread.KindPark,
	}
	a := &jvmthread.Aggregate{From: -jvmthread.Time(random.Int64()), To: jvmthread.Time(random.Int64()), Scale: random.Int32N(31) - 10}
	for range random.IntN(10) {
		s := jvmthread.Series{
			Kind: kinds[random.IntN(len(kinds))], Overflow: random.IntN(2) == 0, Sum: random.Int64(), Max: random.Int64(), Zero: random.Uint64N(1 << 60),
			Class: sym.InternClass(fmt.Sprintf("C%d", random.IntN(10))), Stack: sym.InternStack(fmt.Sprintf("at A.b(A.java:%d)", random.IntN(10))),
		}
		if n := random.IntN(4); n > 0 {
			s.Offset = random.Int32()
			for range n {
				s.Buckets = append(s.Buckets, random.Uint64N(1<<60))
			}
		}
		a.Series = append(a.Series, s)
	}
	return a
}

func toSpan(c *Carrier, sym *symbols.Table) ptrace.Span {
	spans := ptrace.NewSpanSlice()
	c.AppendTo(spans, sym)
	return spans.At(0)
}

// describe prints a carrier with names instead of the ids of a symbol table.
func describe(c *Carrier, sym *symbols.Table) []string {
	lines := []string{fmt.Sprintln(c.Session, c.Batch, c.Watermark, c.Before, c.Clock, c.End), fmt.Sprintf("%+v", c.Threads)}
	if a := c.Aggregate; a != nil {
		lines = append(lines, fmt.Sprintln(a.From, a.To, a.Scale))
		for _, s := range a.Series {
			class, stack := sym.Class(s.Class), sym.Stack(s.Stack)
			s.Class, s.Stack = 0, 0
			lines = append(lines, fmt.Sprintf("%+v", s)+class+stack)
		}
	}
	for _, ev := range c.Events {
		lines = append(lines, fmt.Sprintln(ev.Time, ev.Thread, ev.Kind, ev.Peer, ev.Arg, ev.Flags, sym.Class(ev.Lock.Class), ev.Lock.Hash, sym.Stack(ev.Stack), ev.Span))
	}
	return lines
}

func randomCarrier(random *rand.Rand, sym *symbols.Table) *Carrier {
	c := &Carrier{
		Session: carried, Batch: 1 + random.Uint64N(1<<63), Before: random.Uint64N(jvmthread.MaxEvents + 1),
		Watermark: jvmthread.Time(random.Uint64()),
	}
	if random.IntN(2) == 0 {
		c.Clock = wire.Clock{Wall: random.Int64N(1 << 62), Monotonic: random.Int64N(1 << 62)}
	}
	if random.IntN(4) == 0 {
		c.End = EndExit
		return c
	}
	if random.IntN(3) == 0 {
		c.Aggregate = randomAggregate(random, sym)
		return c
	}
	th := jvmthread.Thread{ID: jvmthread.ThreadID(1 + random.Uint64N(1<<63)), Name: "t", Daemon: random.IntN(2) == 0, Virtual: random.IntN(2) == 0}
	c.Threads = []jvmthread.Thread{th}
	for range random.IntN(20) {
		ev := jvmthread.Event{
			Time: jvmthread.Time(random.Int64()), Thread: th.ID, Kind: jvmthread.Kind(1 + random.IntN(jvmthread.NumKinds-1)),
			Flags: jvmthread.Flags(random.UintN(1 << 16)), Arg: random.Int64(), Peer: jvmthread.ThreadID(random.Uint64N(3)),
		}
		if random.IntN(2) == 0 {
			ev.Stack = sym.InternStack(fmt.Sprintf("at A.b(A.java:%d)", random.IntN(10)))
		}
		if random.IntN(2) == 0 {
			ev.Lock = jvmthread.LockID{Class: sym.InternClass(fmt.Sprintf("C%d", random.IntN(10))), Hash: random.Uint32()}
		}
		if ev.Kind == jvmthread.KindGap {
			ev.Arg %= jvmthread.MaxLost + 1
		}
		switch ev.Kind {
		case jvmthread.KindContext, jvmthread.KindOwnerContext:
			ev = jvmthread.Event{
				Kind: ev.Kind, Time: ev.Time, Thread: th.ID,
				Span: jvmthread.SpanContext{TraceID: [16]byte{0, 1, 15: byte(random.Uint())}, SpanID: [8]byte{7: 9}},
			}
		case jvmthread.KindRequestEnd:
			ev.Peer, ev.Span = jvmthread.NoThread, jvmthread.SpanContext{SpanID: [8]byte{0: 8, 7: byte(random.Uint())}}
		}
		if ev.Kind.Valid() {
			c.Events = append(c.Events, ev)
		}
	}
	return c
}

func TestResourceMarksSingleEndedRecordings(t *testing.T) {
	res := pcommon.NewResource()
	assert.False(t, RecordingSession(carried, res).SingleEnded)
	res.Attributes().PutStr("weft.recording.old", "true")
	assert.False(t, RecordingSession(carried, res).SingleEnded, "attribute of another type")
	MarkRecording(res, "jfr", &recording.Session{SingleEnded: true})
	assert.True(t, RecordingSession(carried, res).SingleEnded)
}
