// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest/wiretext"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

// The size of a batch. Agent and receiver share the processors.
const (
	benchThreads   = 50
	benchPerThread = 20
	benchEvents    = benchThreads * benchPerThread
	benchInFlight  = 8 // batches sent and not acknowledged, or concurrent requests
)

const benchDefinitions = hello + `
class id=1 name="com.acme.OrderBook"
method id=1 class=1 name="add" signature="(I)V" file="OrderBook.java" lines=0:41,9:42
stack id=1 frames=1:9,1:0,1:9,1:0
stack id=2 frames=1:0,1:9
`

// loadBatch returns a batch in which threads contend for one lock.
func loadBatch() []byte {
	sections := make([]wire.Section, benchThreads)
	lock := jvmthread.LockID{Class: 1, Hash: 0x5a1d}
	for i := range sections {
		sections[i].Thread = jvmthread.ThreadID(i + 1)
		for j := range benchPerThread {
			ev := jvmthread.Event{Time: jvmthread.Time(1000*j + i), Lock: lock, Kind: jvmthread.KindContendedEntered}
			if j%2 == 0 {
				ev.Kind, ev.Peer, ev.Stack = jvmthread.KindContendedEnter, jvmthread.ThreadID(i+2), jvmthread.StackID(1+j/2%2)
			}
			sections[i].Events = append(sections[i].Events, ev)
		}
	}
	return wire.AppendBatch(nil, wire.BatchHeader{Watermark: 1 << 30}, sections...)
}

func BenchmarkStreamToNop(b *testing.B) {
	a := dial(b, start(b, outlettest.New(b, nil, consumertest.NewNop()), nil))
	a.greet(benchDefinitions)
	for i := range benchThreads {
		a.send(fmt.Sprintf("thread id=%d name=\"http-exec-%d\" group=\"main\"", i+1, i+1))
	}
	batch := loadBatch()
	b.ReportAllocs()
	b.SetBytes(int64(len(batch)))
	sent, acked := uint64(0), uint64(0)
	for b.Loop() {
		sent++
		binary.LittleEndian.PutUint64(batch[wire.FrameHeaderSize:], sent)
		_, err := a.conn.Write(batch)
		require.NoError(b, err)
		for sent-acked >= benchInFlight {
			acked = a.acked()
		}
	}
	for acked < sent {
		acked = a.acked()
	}
	b.ReportMetric(float64(b.N)*benchEvents/b.Elapsed().Seconds(), "events/s")
}

// The OTLP receiver of the Collector, for comparison: over gRPC, with as many spans per request as the batches above have events, and with
// the same events as carriers.
func BenchmarkOTLPReceiverToNop(b *testing.B) {
	spans := ptrace.NewTraces()
	list := spans.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for i := range benchEvents {
		span := list.AppendEmpty()
		span.SetName("blocked OrderBook")
		span.SetTraceID(pcommon.TraceID(orders))
		span.SetSpanID(pcommon.SpanID{1, byte(i >> 8), byte(i)})
		span.SetStartTimestamp(pcommon.Timestamp(i))
		span.SetEndTimestamp(pcommon.Timestamp(i + 1))
		span.Attributes().PutInt("thread.id", int64(i%benchThreads))
		span.Attributes().PutStr("weft.lock.class", "com.acme.OrderBook")
		span.Attributes().PutInt("weft.lock.id", 0x5a1d)
	}
	b.Run("spans", func(b *testing.B) { benchmarkOTLP(b, spans, "spans/s") })

	s := newSession(&wire.Hello{Session: orders})
	define(b, s, "class id=1 name=\"com.acme.OrderBook\"\nstack id=1 frames=1:9,1:0\nstack id=2 frames=1:0")
	frame := wire.Frame{Kind: wire.FrameBatch, Payload: setSequence(loadBatch(), 1)[wire.FrameHeaderSize:]}
	batch, err := frame.Batch()
	require.NoError(b, err)
	require.NoError(b, s.take(frame, &batch))
	b.Run("carriers", func(b *testing.B) { benchmarkOTLP(b, s.Traces(nil), "events/s") })
}

func setSequence(batch []byte, sequence uint64) []byte {
	binary.LittleEndian.PutUint64(batch[wire.FrameHeaderSize:], sequence)
	return batch
}

func benchmarkOTLP(b *testing.B, traces ptrace.Traces, unit string) {
	b.Helper()
	listener, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	require.NoError(b, err)
	address := listener.Addr().String()
	require.NoError(b, listener.Close())
	factory := otlpreceiver.NewFactory()
	cfg := factory.CreateDefaultConfig().(*otlpreceiver.Config)
	server := cfg.Protocols.GRPC.GetOrInsertDefault()
	server.NetAddr.Endpoint = address
	cfg.Protocols.HTTP = configoptional.None[otlpreceiver.HTTPConfig]()
	rcv, err := factory.CreateTraces(b.Context(), receivertest.NewNopSettings(factory.Type()), cfg, consumertest.NewNop())
	require.NoError(b, err)
	require.NoError(b, rcv.Start(b.Context(), componenttest.NewNopHost()))
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(b, err)
	client := ptraceotlp.NewGRPCClient(conn)
	request := ptraceotlp.NewExportRequestFromTraces(traces)
	bytes, err := request.MarshalProto()
	require.NoError(b, err)

	b.ReportAllocs()
	b.SetBytes(int64(len(bytes)))
	done := make(chan error, benchInFlight)
	for range benchInFlight {
		done <- nil
	}
	for b.Loop() {
		require.NoError(b, <-done)
		go func() {
			_, err := client.Export(context.Background(), request)
			done <- err
		}()
	}
	for range benchInFlight {
		require.NoError(b, <-done)
	}
	b.ReportMetric(float64(b.N)*benchEvents/b.Elapsed().Seconds(), unit)
	require.NoError(b, conn.Close())
	require.NoError(b, rcv.Shutdown(context.Background()))
}

// define processes the definitions in a text.
func define(tb testing.TB, s *session, text string) {
	tb.Helper()
	stream, err := wiretext.AppendStream(nil, text)
	require.NoError(tb, err)
	for r := wire.NewReader(bytes.NewReader(stream), wire.MaxFrame); ; {
		frame, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(tb, err)
		_, err = s.Definitions.Define(frame)
		require.NoError(tb, err)
	}
}
