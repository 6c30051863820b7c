// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stackprofile_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/stackprofile"
)

const (
	benchThreads = 64
	benchStacks  = 2000
	benchDepth   = 30
)

// benchSymbols are stacks of a service: they share the frames of its server, and differ in the five frames of the application.
func benchSymbols() *symbols.Table {
	sym := symbols.New(symbols.DefaultLimits())
	for i := range 20 {
		sym.InternClass(fmt.Sprintf("com.acme.shop.Lock%d", i))
	}
	for i := range benchStacks {
		var b strings.Builder
		for d := range benchDepth {
			if d < 5 {
				fmt.Fprintf(&b, "at com.acme.shop.part%d.Service%d.step%d(Service%d.java:%d)\n", i%40, i%400, d, i%400, 20+i%300)
			} else {
				fmt.Fprintf(&b, "at org.server.pipeline.Stage%d.invoke(Stage%d.java:%d)\n", d, d, 100+d)
			}
		}
		sym.InternStack(strings.TrimSuffix(b.String(), "\n"))
	}
	return sym
}

// contendedBatch is a convoy: each thread blocks 16 times for 2 ms on one of 20 locks, at one of the stacks.
func contendedBatch(number int) (batch ordering.Batch, contentions int) {
	for n := range 16 {
		for th := range benchThreads {
			at := jvmthread.Time((number*16+n)*4_000_000 + th*1000)
			i := (number*16+n)*benchThreads + th
			lock := jvmthread.LockID{Class: jvmthread.ClassID(1 + i%20), Hash: uint32(i % 20)}
			enter := jvmthread.Event{
				Kind: jvmthread.KindContendedEnter, Thread: jvmthread.ThreadID(th + 1), Time: at, Lock: lock,
				Peer: jvmthread.ThreadID((th+20)%benchThreads + 1), Stack: jvmthread.StackID(1 + (i*7)%benchStacks),
			}
			entered := jvmthread.Event{Kind: jvmthread.KindContendedEntered, Thread: enter.Thread, Time: at + 2_000_000, Lock: lock}
			batch.Events = append(batch.Events, enter, entered)
			contentions++
		}
	}
	return batch, contentions
}

// BenchmarkMillionContentions measures the profiles of a million contentions at 2,000 stacks of 30 frames: their sizes, and the memory of the
// sums. One operation writes them as OTLP.
func BenchmarkMillionContentions(b *testing.B) {
	sym := benchSymbols()
	e := drive.New(engine.DefaultConfig(), sym)
	a := profile.New(&profile.Config{
		Waiters: true, Holders: true, MaxSamples: 5000, Budget: &contention.Budget{Limit: 1 << 20}, Memory: forgetful{},
	}, sym, e.Waits())
	contentions := 0
	for n := 0; contentions < 1_000_000; n++ {
		batch, count := contendedBatch(n)
		batch.Number, batch.Watermark = uint64(n+1), jvmthread.Time(n+1)*16*4_000_000
		e.Add(batch)
		contentions += count
		e.Advance(func(w *window.Window) { a.Window(w, e.Timeline()) })
	}
	e.Close(jvmthread.NoTime, window.CutEnd, func(w *window.Window) { a.Window(w, e.Timeline()) })
	var list []*stackprofile.Profile
	var total int
	with := heap() // with the sums
	resolver := stackprofile.Resolver{Account: a, Symbols: sym}
	a.Flush(func(f profile.Family, samples []profile.Sample) {
		if f != profile.OffCPU { // not in the default types
			total += len(samples)
			list = append(list, resolver.Resolve(f, samples, begin, length))
		}
	})
	var data []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		data, err = new(pprofile.ProtoMarshaler).MarshalProfiles(write(list))
		require.NoError(b, err)
	}
	pprofs := 0
	for _, p := range list {
		require.EqualValues(b, contentions, p.Total().Count, p.Family)
		var file bytes.Buffer
		require.NoError(b, stackprofile.WritePprof(&file, p))
		pprofs += file.Len()
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(data)
	require.NoError(b, w.Close())
	b.ReportMetric(float64(total), "samples")
	b.ReportMetric(float64(len(data)), "B-OTLP")
	b.ReportMetric(float64(packed.Len()), "B-OTLP-gzip")
	b.ReportMetric(float64(pprofs), "B-pprof")
	a, resolver.Account, list = nil, nil, nil
	b.ReportMetric(float64(with-heap())/float64(total), "B/sample")
	runtime.KeepAlive(e)
	runtime.KeepAlive(a)
}

// forgetful keeps the memory for windows out of the memory of the sums.
type forgetful struct{}

func (forgetful) Borrow() *profile.Scratch { return profile.NewScratch() }
func (forgetful) Return(*profile.Scratch)  {}

// heap returns the bytes of all live objects.
func heap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
