// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca_test

import (
	"testing"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/orca"
	"github.com/weft-otel/weft/internal/threadtest"
)

func BenchmarkDecode(b *testing.B) {
	events, sym := threadtest.Recorded(1, 16, 8, 200_000)
	log, files, _ := write(events, sym, true)
	sink := &threadtest.Discard{}
	b.SetBytes(int64(len(log)))
	rate := threadtest.StartRate()
	for b.Loop() {
		d := format.New(recording.Options{Sidecar: sidecar(files)}, sink)
		if _, err := d.Write(log); err != nil {
			b.Fatal(err)
		}
		if err := d.Close(); err != nil {
			b.Fatal(err)
		}
	}
	rate.Report(b, sink.Events)
}

func BenchmarkEncode(b *testing.B) {
	events, sym := threadtest.Recorded(1, 16, 8, 200_000)
	e := orca.NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true})
	var dst []byte
	rate := threadtest.StartRate()
	for b.Loop() {
		dst = e.Batch(dst[:0], &recording.Batch{Events: events})
	}
	b.SetBytes(int64(len(dst)))
	rate.Report(b, int(e.Stats().Written))
}

// BenchmarkTwoGigabytes reads a log of 2 GB. It fails if that takes 200 MB of memory.
func BenchmarkTwoGigabytes(b *testing.B) {
	for b.Loop() {
		peak := volume(b, 2<<30)
		b.ReportMetric(float64(peak)/(1<<20), "MB-peak")
	}
}

func TestMemoryDoesNotGrowWithTheLog(t *testing.T) { volume(t, 16<<20) }

func volume(t testing.TB, size int64) (peak uint64) {
	t.Helper()
	events, sym := threadtest.Recorded(1, 16, 8, 50_000)
	e := orca.NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true})
	opts := recording.Options{Symbols: symbols.New(symbols.DefaultLimits())}
	return threadtest.Volume(t, format.New(opts, &threadtest.Discard{}), e, events, size)
}
