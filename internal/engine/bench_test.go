// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"
	"time"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// workload returns one batch of a busy JVM: 32 threads contend for 8 locks, and wait for and notify each other. Each round has 8 events.
func workload() (batch ordering.Batch, length jvmthread.Time) {
	const threads, rounds, step = 32, 16, 500
	length = rounds * 8 * step
	for i := range threads {
		id := jvmthread.ThreadID(i + 1)
		hot := jvmthread.LockID{Class: 1, Hash: uint32(i % 4)}
		queue := jvmthread.LockID{Class: 2, Hash: uint32(i / 2)}
		at := jvmthread.Time(i)
		for range rounds {
			add := func(ev jvmthread.Event) {
				ev.Time, ev.Thread = at, id
				batch.Events = append(batch.Events, ev)
				at += step
			}
			add(jvmthread.Event{Kind: jvmthread.KindContendedEnter, Lock: hot, Peer: jvmthread.ThreadID((i+1)%threads + 1), Stack: 1})
			add(jvmthread.Event{Kind: jvmthread.KindContendedEntered, Lock: hot})
			add(jvmthread.Event{Kind: jvmthread.KindSleepStart})
			add(jvmthread.Event{Kind: jvmthread.KindSleepEnd})
			if i%2 == 0 {
				add(jvmthread.Event{Kind: jvmthread.KindWait, Lock: queue, Stack: 2})
				at += 2 * step
				add(jvmthread.Event{Kind: jvmthread.KindWaited, Lock: queue})
				at -= 3 * step / 2
				at += 3 * step / 2
				add(jvmthread.Event{Kind: jvmthread.KindWaitReturned, Lock: queue})
			} else {
				at += step
				add(jvmthread.Event{Kind: jvmthread.KindNotify, Lock: queue})
				at += 3 * step
			}
			at = at - at%step + jvmthread.Time(i)
		}
		length = max(length, at-jvmthread.Time(i)+step)
	}
	return batch, length
}

// BenchmarkEngine measures the processing of events from a batch to a window. One operation is one event.
func BenchmarkEngine(b *testing.B) {
	batch, length := workload()
	cfg := engine.DefaultConfig()
	cfg.Window = 2 * time.Millisecond // about 100 000 events
	e := drive.New(cfg, nil)
	windows, shown := 0, 0
	yield := func(w *window.Window) {
		windows++
		for _, l := range w.Lanes {
			shown += l.Intervals.Len()
		}
	}
	var number, before uint64
	start := jvmthread.Time(1_700_000_000_000_000_000)
	feed := func() {
		number++
		batch.Number, batch.Before, batch.Watermark = number, before, start+length
		for i := range batch.Events {
			batch.Events[i].Time += start
		}
		e.Add(batch)
		for i := range batch.Events {
			batch.Events[i].Time -= start
		}
		e.Advance(yield)
		before += uint64(len(batch.Events))
		start += length
	}
	for range 100 {
		feed()
	}
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += len(batch.Events) {
		feed()
	}
	b.StopTimer()
	b.ReportMetric(float64(windows), "windows")
}
