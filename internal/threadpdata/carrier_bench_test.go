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
	for name, appendTo := range forms {
		b.Run(name, func(b *testing.B) {
			c, sym := sampleCarrier()
			b.ReportAllocs()
			for b.Loop() {
				appendTo(c, ptrace.NewSpanSlice(), sym)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(c.Events)), "ns/event")
		})
	}
}

func BenchmarkCarrierParse(b *testing.B) {
	for name, appendTo := range forms {
		b.Run(name, func(b *testing.B) {
			c, sym := sampleCarrier()
			spans := ptrace.NewSpanSlice()
			appendTo(c, spans, sym)
			var got Carrier
			b.ReportAllocs()
			for b.Loop() {
				if err := Parse(spans.At(0), sym, &got); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(c.Events)), "ns/event")
		})
	}
}

var forms = map[string]func(*Carrier, ptrace.SpanSlice, *symbols.Table){"events": (*Carrier).AppendTo, "bytes": (*Carrier).AppendBytesTo}

func sampleCarrier() (*Carrier, *symbols.Table) {
	sym := symbols.New(symbols.DefaultLimits())
	c := &Carrier{Session: carried, Batch: 1, Parts: 1, Threads: []jvmthread.Thread{{ID: 12, Name: "http-exec-1"}}}
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

// BenchmarkCarrierSize measures the bytes of an event in OTLP, in batches of 1,000 events, raw and compressed as in config/edge.yaml and
// config/kafka.yaml.
func BenchmarkCarrierSize(b *testing.B) {
	events, sym := threadtest.Recorded(1, 16, 8, 20_000)
	events = events[:1000]
	slices.SortStableFunc(events, func(x, y jvmthread.Event) int { return cmp.Compare(x.Thread, y.Thread) })
	whole := Carrier{Session: carried, Batch: 1, Parts: 1, Events: events}
	var parts []Carrier
	for start, i := 0, 1; i <= len(events); i++ {
		if i < len(events) && events[i].Thread == events[start].Thread {
			continue
		}
		threads := []jvmthread.Thread{sym.Thread(events[start].Thread)}
		parts = append(parts, Carrier{Session: carried, Batch: 1, Part: uint32(len(parts)), Threads: threads, Events: events[start:i]})
		whole.Threads = append(whole.Threads, threads...)
		start = i
	}
	build := map[string]func(ptrace.SpanSlice){
		"bytes": func(spans ptrace.SpanSlice) { whole.AppendBytesTo(spans, sym) },
		"events": func(spans ptrace.SpanSlice) {
			for i := range parts {
				parts[i].Parts = uint32(len(parts))
				parts[i].AppendTo(spans, sym)
			}
		},
	}
	for _, form := range []string{"bytes", "events"} {
		b.Run(form, func(b *testing.B) {
			var raw, packed []byte
			encoder, err := zstd.NewWriter(nil)
			require.NoError(b, err)
			for b.Loop() {
				td := ptrace.NewTraces()
				build[form](td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans())
				raw, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
				require.NoError(b, err)
				packed = encoder.EncodeAll(raw, packed[:0])
			}
			b.ReportMetric(float64(len(raw))/float64(len(events)), "B/event")
			b.ReportMetric(float64(len(packed))/float64(len(events)), "zstdB/event")
		})
	}
}
