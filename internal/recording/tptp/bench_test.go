// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package tptp_test

import (
	"bytes"
	"encoding/xml"
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/tptp"
	"github.com/weft-otel/weft/internal/threadtest"
)

// sample returns a trace, optionally with the annotations that Weft writes.
func sample(tb testing.TB, annotations bool) []byte {
	tb.Helper()
	events, sym := threadtest.Recorded(1, 16, 8, 100_000)
	if !annotations {
		for i := range events {
			events[i].Stack, events[i].Lock.Class = 0, 0
		}
	}
	trace, _ := write(events, sym, recording.Times{})
	return trace
}

func BenchmarkDecode(b *testing.B)          { decode(b, sample(b, false)) }
func BenchmarkDecodeAnnotated(b *testing.B) { decode(b, sample(b, true)) }

func decode(b *testing.B, trace []byte) {
	b.Helper()
	sink := &threadtest.Discard{}
	b.SetBytes(int64(len(trace)))
	rate := threadtest.StartRate()
	for b.Loop() {
		d := format.New(recording.Options{}, sink)
		if _, err := d.Write(trace); err != nil {
			b.Fatal(err)
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
	rate.Report(b, sink.Events)
}

// BenchmarkStandardXML is a baseline: encoding/xml finds the same tags without converting them to events.
func BenchmarkStandardXML(b *testing.B) {
	trace := sample(b, false)
	elements := 0
	b.SetBytes(int64(len(trace)))
	rate := threadtest.StartRate()
	for b.Loop() {
		d := xml.NewDecoder(bytes.NewReader(trace))
		for {
			token, err := d.RawToken()
			if err != nil {
				break
			}
			if start, ok := token.(xml.StartElement); ok && len(start.Attr) > 0 {
				elements++
			}
		}
	}
	rate.Report(b, elements)
}

func BenchmarkEncode(b *testing.B) {
	events, sym := threadtest.Recorded(1, 16, 8, 100_000)
	e := tptp.NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true})
	var dst []byte
	rate := threadtest.StartRate()
	for b.Loop() {
		dst = e.Batch(dst[:0], &recording.Batch{Events: events})
	}
	b.SetBytes(int64(len(dst)))
	rate.Report(b, int(e.Stats().Written))
}

// BenchmarkTwoGigabytes reads a trace of 2 GB. It fails if that takes 200 MB of memory.
func BenchmarkTwoGigabytes(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(float64(volume(b, 2<<30))/(1<<20), "MB-peak")
	}
}

func TestMemoryDoesNotGrowWithTheTrace(t *testing.T) { volume(t, 16<<20) }

func volume(tb testing.TB, size int64) (peak uint64) {
	tb.Helper()
	events, sym := threadtest.Recorded(1, 16, 8, 50_000)
	e := tptp.NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true})
	opts := recording.Options{Symbols: symbols.New(symbols.DefaultLimits())}
	return threadtest.Volume(tb, format.New(opts, &threadtest.Discard{}), e, events, size)
}
