// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
)

func BenchmarkCarrierAppendTo(b *testing.B) {
	c, sym := sampleCarrier()
	b.ReportAllocs()
	for b.Loop() {
		c.AppendTo(ptrace.NewSpanSlice(), sym)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(c.Events)), "ns/event")
}

func BenchmarkCarrierParse(b *testing.B) {
	c, sym := sampleCarrier()
	span := toSpan(c, sym)
	var got Carrier
	b.ReportAllocs()
	for b.Loop() {
		if err := Parse(span, sym, &got); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(c.Events)), "ns/event")
}

func sampleCarrier() (*Carrier, *symbols.Table) {
	sym := symbols.New(symbols.DefaultLimits())
	c := &Carrier{Session: carried, Batch: 1, Threads: []jvmthread.Thread{{ID: 12, Name: "http-exec-1"}}}
	lock := jvmthread.LockID{Class: sym.InternClass("com.acme.OrderBook"), Hash: 0x5a1d}
	for i := range 100 {
		ev := jvmthread.Event{Time: jvmthread.Time(i), Thread: 12, Kind: jvmthread.KindContendedEntered, Lock: lock}
		if i%2 == 0 {
			ev.Kind, ev.Peer, ev.Stack = jvmthread.KindContendedEnter, 11, sym.InternStack(fmt.Sprintf("at A.b(A.java:%d)", i%10))
		}
		c.Events = append(c.Events, ev)
	}
	return c, sym
}

// BenchmarkCarrierSize measures the bytes of an event in OTLP, in batches of 1,000 events or, if they are small, of 20, raw and compressed as in
// config/edge.yaml and config/kafka.yaml.
func BenchmarkCarrierSize(b *testing.B) {
	const all, small = 1000, 20
	events, sym := threadtest.Recorded(1, 16, 8, 20_000)
	for name, size := range map[string]int{"large": all, "small": small} {
		b.Run(name, func(b *testing.B) {
			var raw, packed int
			encoder, err := zstd.NewWriter(nil)
			require.NoError(b, err)
			for b.Loop() {
				raw, packed = 0, 0
				for batch := range slices.Chunk(events[:all], size) {
					td := ptrace.NewTraces()
					appendBatch(td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans(), byThread(batch), sym)
					message, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
					require.NoError(b, err)
					raw += len(message)
					packed += len(encoder.EncodeAll(message, nil))
				}
			}
			b.ReportMetric(float64(raw)/all, "B/event")
			b.ReportMetric(float64(packed)/all, "zstd-B/event")
		})
	}
}

func byThread(events []jvmthread.Event) []jvmthread.Event {
	return slices.SortedStableFunc(slices.Values(events), func(x, y jvmthread.Event) int { return cmp.Compare(x.Thread, y.Thread) })
}

func appendBatch(spans ptrace.SpanSlice, events []jvmthread.Event, sym *symbols.Table) {
	c := Carrier{Session: carried, Batch: 1, Events: events}
	for i := range events {
		if i == 0 || events[i].Thread != events[i-1].Thread {
			c.Threads = append(c.Threads, sym.Thread(events[i].Thread))
		}
	}
	c.AppendTo(spans, sym)
}
