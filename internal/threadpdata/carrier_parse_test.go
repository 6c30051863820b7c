// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest/wiretext"
	"github.com/weft-otel/weft/internal/wire"
)

// twoThreads is a batch in which one thread waits for another.
func twoThreads(sym *symbols.Table) *Carrier {
	sym.InternClass("com.acme.Unused")
	lock := jvmthread.LockID{Class: sym.InternClass("com.acme.OrderBook"), Hash: 0x5a1d}
	stack := sym.InternStack("at com.acme.OrderBook.add(OrderBook.java:42)\n--\n17 (JI)V")
	return &Carrier{
		Session: carried, Batch: 5, Watermark: 9000, Before: 17, First: 3, End: EndExit,
		Threads: []jvmthread.Thread{{ID: 12, Name: "http-exec-1", Group: "main", Daemon: true}, {ID: 11, Name: "report"}},
		Events: []jvmthread.Event{
			{Time: 6000, Thread: 12, Kind: jvmthread.KindContendedEnter, Peer: 11, Lock: lock, Stack: stack},
			{Time: 7000, Thread: 12, Kind: jvmthread.KindContendedEntered, Lock: lock},
			{Time: 5000, Thread: 11, Kind: jvmthread.KindGap, Arg: 3},
			{Time: 6500, Thread: 11, Kind: jvmthread.KindContendedEnter, Lock: lock, Stack: stack},
		},
	}
}

func TestCarrierHasFramesOfTheProtocol(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	span := toSpan(twoThreads(sym), sym)
	assert.Equal(t, "weft.raw", span.Name())
	assert.Equal(t, pcommon.TraceID(carried), span.TraceID())
	assert.EqualValues(t, 5000, span.StartTimestamp())
	assert.EqualValues(t, 7000, span.EndTimestamp())
	attributes := span.Attributes().AsRaw()
	data := attributes["weft.raw.batch.bytes"].([]byte)
	delete(attributes, "weft.raw.batch.bytes")
	assert.Equal(t, map[string]any{"weft.raw.version": int64(1), "weft.raw.batch.events": int64(4), "weft.raw.end": "exit", "weft.raw.first": int64(3)}, attributes)

	text, err := wiretext.AppendText(nil, data)
	require.NoError(t, err)
	assert.Equal(t, `thread id=12 flags=1 name="http-exec-1" group="main"
thread id=11 flags=0 name="report" group=""
class id=2 name="com.acme.OrderBook"
stackText id=1 text="at com.acme.OrderBook.add(OrderBook.java:42)\x0a--\x0a17 (JI)V"
batch sequence=5 watermark=9000 before=17
 section thread=12
  event contendedEnter time=6000 peer=11 lock=2/5a1d stack=1
  event contendedEntered time=7000 lock=2/5a1d
 section thread=11
  event gap time=5000 arg=3
  event contendedEnter time=6500 lock=2/5a1d stack=1
`, string(text))

	there := symbols.New(symbols.DefaultLimits())
	var got Carrier
	require.NoError(t, Parse(span, there, &got))
	assert.Equal(t, describe(twoThreads(sym), sym), describe(&got, there))
	assert.Equal(t, "com.acme.OrderBook", there.Class(1), "only what the events refer to is defined")
}

// A reader that knows no class or stack of the batch before must not use those of another carrier.
func TestCarriersDoNotUseDefinitionsOfOtherCarriers(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	var c Carrier
	require.NoError(t, Parse(toSpan(twoThreads(sym), sym), sym, &c))
	event := jvmthread.Event{Time: 1, Thread: 12, Kind: jvmthread.KindContendedEntered, Lock: jvmthread.LockID{Class: 2, Hash: 1}}
	frames := wire.AppendBatch(nil, wire.BatchHeader{Sequence: 1}, wire.Section{Thread: 12, Events: []jvmthread.Event{event}})
	span := framesSpan(frames)
	require.EqualError(t, Parse(span, sym, &c), "weft.raw.batch.bytes: event 0: refers to a class or stack that the carrier does not define")
}

func framesSpan(frames []byte) ptrace.Span {
	span := ptrace.NewSpan()
	span.SetTraceID(pcommon.TraceID(carried))
	span.Attributes().PutInt(attrRawVersion, rawVersion)
	span.Attributes().PutEmptyBytes(attrRawBytes).FromRaw(frames)
	return span
}

func TestParseNamesTheInvalidFrame(t *testing.T) {
	batch := func(header wire.BatchHeader, events ...jvmthread.Event) []byte {
		return wire.AppendBatch(nil, header, wire.Section{Thread: 1, Events: events})
	}
	first := wire.BatchHeader{Sequence: 1}
	sums := func(header wire.BatchHeader, series ...jvmthread.Series) []byte {
		return wire.AppendAggregate(nil, &wire.Aggregate{BatchHeader: header, Aggregate: jvmthread.Aggregate{Series: series}})
	}
	for _, test := range []struct {
		frames []byte
		want   string
	}{
		{nil, "the batch is missing"},
		{wire.AppendAck(nil, 1), "unexpected frame ack"},
		{wire.AppendClass(nil, wire.Class{ID: maxRawID + 1}), "ID 1048577 exceeds 1048576"},
		{wire.AppendStackText(nil, 0, "at"), "frame 1 at byte 0: stackText: id is 0"},
		{batch(first)[:20], "frame 1 at byte 0: batch: length is 40 bytes, have 12"},
		{append(batch(first), 7), "frame 2 at byte 48: unexpected EOF"},
		{append(batch(first), batch(first)...), "there are two batches"},
		{batch(wire.BatchHeader{}), "frame 1 at byte 0: batch: sequence is 0"},
		{batch(wire.BatchHeader{Sequence: 1, Before: 1<<60 + 1}), "1152921504606846977 events before the batch, want at most 1152921504606846976"},
		{batch(first, jvmthread.Event{Kind: jvmthread.KindYield, Time: -1}), "event 0: time is -1, want 0 or more"},
		{batch(first, jvmthread.Event{Kind: jvmthread.KindGap, Arg: -1}), "frame 1 at byte 0: batch: a gap of -1 events, want 0 to 1099511627776"},
		{append(batch(first), sums(first)...), "there are two batches"},
		{sums(wire.BatchHeader{Sequence: 1, Before: 1<<60 + 1}), "1152921504606846977 events before the batch, want at most 1152921504606846976"},
		{sums(first, jvmthread.Series{Kind: jvmthread.KindPark, Sum: -1}), "frame 1 at byte 0: aggregate: series 1: sum is -1 and max 0, want 0 or more"},
		{sums(first, jvmthread.Series{Kind: jvmthread.KindPark, Class: 1}), "series 0: refers to a class or stack that the carrier does not define"},
		{batch(first, jvmthread.Event{Kind: jvmthread.KindYield, Stack: 1}), "event 0: refers to a class or stack that the carrier does not define"},
	} {
		var c Carrier
		err := Parse(framesSpan(test.frames), symbols.New(symbols.DefaultLimits()), &c)
		require.EqualError(t, err, "weft.raw.batch.bytes: "+test.want)
	}

	span := framesSpan(batch(first))
	span.Attributes().PutInt(attrRawVersion, 2)
	require.EqualError(t, Check(span), "weft.raw.version is 2, want 1 to 1; update this collector if it is older than the sender")
	span.Attributes().Remove(attrRawVersion)
	require.EqualError(t, Check(span), "weft.raw.version is missing")
	span.Attributes().PutInt(attrRawVersion, 1)
	span.Attributes().PutStr(attrRawBytes, "text")
	require.EqualError(t, Check(span), "weft.raw.batch.bytes is of type Str, want Bytes")
	span.Attributes().Remove(attrRawBytes)
	require.EqualError(t, Check(span), "weft.raw.batch.bytes is missing")
	span = framesSpan(batch(first))
	span.Attributes().PutStr(attrRawFirst, "3")
	require.EqualError(t, Check(span), "weft.raw.first is of type Str, want Int")
	span.Attributes().Remove(attrRawFirst)
	span.Attributes().PutInt(attrRawEnd, 1)
	require.EqualError(t, Check(span), "weft.raw.end is of type Int, want Str")
	span.SetTraceID(pcommon.TraceID{})
	require.EqualError(t, Check(span), "trace ID  is not a session ID")
}

// Frames of kinds that this version does not know are skipped.
func TestCarriersOfANewerVersionAreRead(t *testing.T) {
	frames := wire.AppendBatch([]byte{1, 0, 0, 0, 99, 0, 0, 0, 42}, wire.BatchHeader{Sequence: 3})
	var c Carrier
	require.NoError(t, Parse(framesSpan(frames), symbols.New(symbols.DefaultLimits()), &c))
	assert.EqualValues(t, 3, c.Batch)
}
