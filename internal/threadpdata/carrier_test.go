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

func TestCarrierIsAValidSpan(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	lock := jvmthread.LockID{Class: sym.InternClass("com.acme.OrderBook"), Hash: 0x5a1d}
	stack := sym.InternStack("at com.acme.OrderBook.add(OrderBook.java:42)")
	c := Carrier{
		Session: carried, Batch: 5, Part: 1, Parts: 2, Watermark: 9000, Before: 17, First: 3,
		Threads: []jvmthread.Thread{{ID: 12, Name: "http-exec-1", Group: "main", Daemon: true}},
		Events: []jvmthread.Event{
			{Time: 6000, Thread: 12, Kind: jvmthread.KindContendedEnter, Peer: 11, Lock: lock, Stack: stack},
			{Time: 7000, Thread: 12, Kind: jvmthread.KindContendedEntered, Lock: lock},
			{Time: 8000, Thread: 12, Kind: jvmthread.KindWaited, Lock: lock, Flags: jvmthread.FlagTimedOut},
			{Time: 8500, Thread: 12, Kind: jvmthread.KindGap, Arg: 3},
		},
	}
	span := toSpan(&c, sym)

	assert.Equal(t, "weft.raw", span.Name())
	assert.Equal(t, pcommon.TraceID(carried), span.TraceID())
	assert.EqualValues(t, 6000, span.StartTimestamp())
	assert.EqualValues(t, 8500, span.EndTimestamp())
	assert.Equal(t, map[string]any{
		"weft.raw.batch": int64(5), "weft.raw.part": int64(1), "weft.raw.parts": int64(2), "weft.raw.watermark": int64(9000),
		"weft.raw.before": int64(17), "weft.raw.first": int64(3), "weft.raw.stacks": []any{"at com.acme.OrderBook.add(OrderBook.java:42)"},
		"thread.id": int64(12), "thread.name": "http-exec-1", "weft.thread.group": "main", "jvm.thread.daemon": true,
	}, span.Attributes().AsRaw())
	events := span.Events()
	require.Equal(t, 4, events.Len())
	assert.Equal(t, "contendedEnter", events.At(0).Name())
	assert.EqualValues(t, 6000, events.At(0).Timestamp())
	assert.Equal(t, map[string]any{
		"weft.event.peer": int64(11), "weft.lock.class": "com.acme.OrderBook", "weft.lock.id": int64(0x5a1d), "weft.event.stack": int64(0),
	}, events.At(0).Attributes().AsRaw())
	assert.Equal(t, map[string]any{
		"weft.lock.class": "com.acme.OrderBook", "weft.lock.id": int64(0x5a1d), "weft.event.flags": int64(1),
	}, events.At(2).Attributes().AsRaw())
	assert.Equal(t, map[string]any{"weft.event.arg": int64(3)}, events.At(3).Attributes().AsRaw())
}

func TestCarrierWithoutEventsHasNoThread(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	c := Carrier{Session: carried, Batch: 6, Parts: 1, Watermark: 9000, Before: 17, End: EndLost}
	span := toSpan(&c, sym)
	assert.Equal(t, map[string]any{
		"weft.raw.batch": int64(6), "weft.raw.part": int64(0), "weft.raw.parts": int64(1), "weft.raw.watermark": int64(9000),
		"weft.raw.before": int64(17), "weft.raw.end": "lost",
	}, span.Attributes().AsRaw())
	assert.EqualValues(t, 9000, span.StartTimestamp())

	var got Carrier
	require.NoError(t, Parse(span, sym, &got))
	assert.Equal(t, c, got)
}

func TestCarrierMayOnlyIdentifyAThread(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	c := Carrier{
		Session: carried, Batch: 6, Part: 1, Parts: 2, Watermark: 9000,
		Threads: []jvmthread.Thread{{ID: 12, Name: "owner", Group: "main", Daemon: true, Virtual: true}},
	}
	var got Carrier
	require.NoError(t, Parse(toSpan(&c, sym), sym, &got))
	assert.Equal(t, describe(&c, sym), describe(&got, sym))
	assert.Empty(t, got.Events)
}

func TestSpanIDsDifferAndAreStable(t *testing.T) {
	seen := make(map[pcommon.SpanID]bool)
	for batch := range uint64(1000) {
		for part := range uint32(10) {
			id := carrierID(&Carrier{Session: carried, Batch: batch, Part: part})
			assert.NotZero(t, id[0])
			assert.False(t, seen[id])
			seen[id] = true
		}
	}
	assert.Equal(t, "066bf5da1dfb0f59", carrierID(&Carrier{Session: carried, Batch: 1}).String())
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
		if random.IntN(2) == 0 {
			c.AppendTo(scope.Spans(), here)
		} else {
			if len(c.Events) > 0 {
				c.Part, c.Parts = 0, 1
			}
			c.AppendBytesTo(scope.Spans(), here)
		}
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

func TestParseNamesTheInvalidAttribute(t *testing.T) {
	for _, test := range []struct {
		change func(ptrace.Span)
		want   string
	}{
		{func(s ptrace.Span) { s.SetTraceID(pcommon.TraceID{}) }, "trace ID  is not a session ID"},
		{func(s ptrace.Span) { s.Attributes().Remove(attrRawBatch) }, "weft.raw.batch is missing"},
		{func(s ptrace.Span) { s.Attributes().Remove(attrRawWatermark) }, "weft.raw.watermark is missing"},
		{func(s ptrace.Span) { s.Attributes().Remove(attrThreadID) }, "thread.id is missing"},
		{func(s ptrace.Span) { s.Attributes().PutStr(attrRawBatch, "5") }, "weft.raw.batch is of type Str, want Int"},
		{func(s ptrace.Span) { s.Attributes().PutInt(attrRawPart, 2) }, "weft.raw.part is 2 of 2"},
		{func(s ptrace.Span) { s.Attributes().PutInt(attrRawPart, -1) }, "weft.raw.part is -1, want 0 to 4294967295"},
		{func(s ptrace.Span) { s.Attributes().PutInt(attrRawParts, 0) }, "weft.raw.parts is 0, want 1 to 4294967295"},
		{func(s ptrace.Span) { s.Attributes().PutInt(attrRawEnd, 0) }, "weft.raw.end is of type Int, want Str"},
		{func(s ptrace.Span) { s.Attributes().PutStr(attrRawStacks, "") }, "weft.raw.stacks is of type Str, want Slice"},
		{func(s ptrace.Span) { s.Attributes().PutEmptySlice(attrRawStacks).AppendEmpty() }, "weft.raw.stacks at 0 is of type Empty, want Str"},
		{func(s ptrace.Span) { s.Attributes().PutStr(attrThreadDaemon, "") }, "jvm.thread.daemon is of type Str, want Bool"},
		{func(s ptrace.Span) { s.Events().At(0).Attributes().PutInt(attrEventStack, 1) }, "event 0: weft.event.stack is 1, want 0 to 0"},
		{func(s ptrace.Span) { s.Events().At(0).Attributes().PutInt(attrEventFlags, 1<<16) }, "event 0: weft.event.flags is 65536, want 0 to 65535"},
		{func(s ptrace.Span) { s.Events().At(0).SetTimestamp(1 << 63) }, "event 0: time is 9223372036854775808, want 0 to 9223372036854775807"},
		{func(s ptrace.Span) {
			s.Events().At(0).SetName("gap")
			s.Events().At(0).Attributes().PutInt(attrEventArg, -1)
		}, "event 0: weft.event.arg is -1, want 0 to 1099511627776"},
		{func(s ptrace.Span) { s.Attributes().PutInt(attrRawBefore, -1) }, "weft.raw.before is -1, want 0 to 1152921504606846976"},
		{func(s ptrace.Span) { s.Events().At(0).Attributes().PutDouble(attrLockID, 1) }, "event 0: weft.lock.id is of type Double, want Int"},
		{func(s ptrace.Span) { s.Events().At(0).Attributes().PutInt(attrLockClass, 1) }, "event 0: weft.lock.class is of type Int, want Str"},
	} {
		sym := symbols.New(symbols.DefaultLimits())
		c := Carrier{
			Session: carried, Batch: 5, Parts: 2, Threads: []jvmthread.Thread{{ID: 1}},
			Events: []jvmthread.Event{{Thread: 1, Kind: jvmthread.KindNotify, Stack: sym.InternStack("at A.b(C.java:1)")}},
		}
		span := toSpan(&c, sym)
		test.change(span)
		require.EqualError(t, Parse(span, sym, &c), test.want)
	}
}

func TestParseSkipsEventsOfUnknownNames(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	c := Carrier{Session: carried, Batch: 5, Parts: 1, Threads: []jvmthread.Thread{{ID: 1}}, Events: []jvmthread.Event{{Thread: 1, Kind: jvmthread.KindYield}}}
	span := toSpan(&c, sym)
	span.Events().AppendEmpty().SetName("levitate")
	require.NoError(t, Parse(span, sym, &c))
	assert.Len(t, c.Events, 1)
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
		c.AppendBytesTo(spans, sym)
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
					if err := Parse(span, sym, &c); err != nil {
						assert.NotEmpty(t, err.Error())
						continue
					}
					if _, ok := span.Attributes().Get(attrRawBytes); !ok {
						require.NoError(t, Parse(toSpan(&c, sym), sym, &again))
					} else if len(c.Events) > 0 {
						require.NoError(t, Parse(toBytes(&c, sym), sym, &again))
					} else {
						continue
					}
					assert.Equal(t, describe(&c, sym), describe(&again, sym))
				}
			}
		}
	})
}

func randomAggregate(random *rand.Rand, sym *symbols.Table) *jvmthread.Aggregate {
	kinds := []jvmthread.Kind{
		jvmthread.KindContendedEnter, jvmthread.KindWait, jvmthread.KindWaited, jvmthread.KindJoinStart, jvmthread.KindSleepStart, jvmthread.KindPark,
	}
	a := &jvmthread.Aggregate{From: jvmthread.Time(random.Uint64()), To: jvmthread.Time(random.Uint64()), Scale: random.Int32N(31) - 10}
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

func TestParseNamesTheInvalidAttributeOfAnAggregate(t *testing.T) {
	for _, test := range []struct {
		change func(span, series pcommon.Map)
		want   string
	}{
		{func(span, _ pcommon.Map) { span.PutInt(attrAggregateScale, 21) }, "weft.aggregate.scale is 21, want -10 to 20"},
		{func(_, series pcommon.Map) { series.PutInt(attrAggregateSum, -1) }, "event 0: weft.aggregate.sum is -1, want 0 to 9223372036854775807"},
		{func(_, series pcommon.Map) { series.PutInt(attrAggregateBuckets, 1) }, "event 0: weft.aggregate.buckets is of type Int, want Slice"},
		{func(_, series pcommon.Map) { series.PutEmptySlice(attrAggregateBuckets).AppendEmpty().SetInt(-1) }, "event 0: weft.aggregate.buckets at 0 is -1, want 0 to 9223372036854775807"},
		{func(_, series pcommon.Map) { series.PutInt(attrAggregateZero, 1<<63-1) }, "event 0: weft.aggregate.buckets counts more than 9223372036854775807 waits"},
		{func(_, series pcommon.Map) { series.PutInt(attrEventStack, 0) }, "event 0: weft.event.stack is 0, want 0 to -1"},
		{func(_, series pcommon.Map) { series.PutBool(attrAggregateKind, true) }, "event 0: weft.aggregate.kind is of type Bool, want Str"},
	} {
		sym := symbols.New(symbols.DefaultLimits())
		c := Carrier{Session: carried, Batch: 5, Parts: 1, Aggregate: &jvmthread.Aggregate{Series: []jvmthread.Series{{Kind: jvmthread.KindPark, Buckets: []uint64{1}}}}}
		span := toSpan(&c, sym)
		test.change(span.Attributes(), span.Events().At(0).Attributes())
		require.EqualError(t, Parse(span, sym, &c), test.want)
	}
}

func toSpan(c *Carrier, sym *symbols.Table) ptrace.Span {
	spans := ptrace.NewSpanSlice()
	c.AppendTo(spans, sym)
	return spans.At(0)
}

// describe prints a carrier with names instead of the ids of a symbol table.
func describe(c *Carrier, sym *symbols.Table) []string {
	lines := []string{fmt.Sprintln(c.Session, c.Batch, c.Part, c.Parts, c.Watermark, c.Before, c.End), fmt.Sprintf("%+v", c.Threads)}
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
		Session: carried, Batch: 1 + random.Uint64N(1<<63), Parts: 1 + random.Uint32N(9), Before: random.Uint64N(jvmthread.MaxEvents + 1),
		Watermark: jvmthread.Time(random.Uint64()),
	}
	c.Part = random.Uint32N(c.Parts)
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
