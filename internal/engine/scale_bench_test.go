// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// BenchmarkWindow processes a whole window: from batches of events to intervals, the cut with all sums, the critical path and the savings.
// ns/interval should be the same for all sizes. B/interval is the memory per interval until the cut, including interactions and holds.
func BenchmarkWindow(b *testing.B) {
	for _, size := range []int{1e4, 1e5, 1e6, 1e7} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			for range b.N {
				b.ReportMetric(oneWindow(b, size), "B/interval")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/interval")
		})
	}
}

func oneWindow(b *testing.B, size int) (bytesPerInterval float64) {
	b.Helper()
	b.StopTimer()
	batch, length := workload()
	cfg := engine.DefaultConfig()
	cfg.Window, cfg.Limits = 100*time.Hour, window.Limits{Intervals: 1 << 30}
	e := drive.New(cfg, nil)
	finder := window.NewFinder()
	before := heap()
	b.StartTimer()
	intervals := 0
	count := func(w *window.Window) {
		finder.Find(w)
		for _, l := range w.Lanes {
			intervals += l.Intervals.Len()
		}
	}
	start := jvmthread.Time(1_700_000_000_000_000_000)
	for n := uint64(1); int(n)*len(batch.Events) < size; n++ {
		batch.Number, batch.Before, batch.Watermark = n, (n-1)*uint64(len(batch.Events)), start+length
		for i := range batch.Events {
			batch.Events[i].Time += start
		}
		e.Add(batch)
		for i := range batch.Events {
			batch.Events[i].Time -= start
		}
		e.Advance(count)
		start += length
	}
	b.StopTimer()
	held := heap() - before
	b.StartTimer()
	e.Close(jvmthread.NoTime, window.CutEnd, count)
	if intervals == 0 {
		b.Fatal("no intervals")
	}
	return held / float64(intervals)
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
