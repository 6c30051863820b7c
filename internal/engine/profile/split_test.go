// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

var permits = jvmthread.LockID{Class: 1, Hash: 2}

// Several holders at a time share what they cause. Each nanosecond is divided; less than one for each holder and wait remains.
func TestSharedHoldsAgainstAnOracle(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		span := func() (start, end jvmthread.Time) {
			start = 1_000_000 + jvmthread.Time(rng.IntN(200))
			return start, start + jvmthread.Time(rng.IntN(80))
		}
		w := window.Window{Start: 1_000_000, End: 1_000_250}
		threads := 1 + rng.IntN(12)
		for i := range threads {
			start, end := span()
			w.Holds = append(w.Holds, jvmthread.Hold{Lock: permits, Thread: jvmthread.ThreadID(i + 1), Start: start, End: end, Marks: jvmthread.HoldShared})
		}
		s := newSplit(nil)
		s.borrow()
		s.find(permits)
		s.begin(&w, w.Start)
		want := make([]float64, threads+1)
		var waited Sum
		for range rng.IntN(20) {
			start, end := span()
			s.add(&jvmthread.Interval{Lock: permits, Wait: jvmthread.WaitPermit}, nil, contention.NoText, start, end, 1)
			waited.add(Sum{1, end.Sub(start)})
			for at := start; at < end; at++ {
				divide(&w, at, want)
			}
		}
		got := make([]Sum, threads+1)
		var all Sum
		s.finish(func(k *Key, holder jvmthread.ThreadID, sum Sum, _ jvmthread.SpanContext) {
			assert.Equal(t, jvmthread.WaitPermit, k.Wait)
			got[holder].add(sum)
			all.add(sum)
		})
		require.Equal(t, waited, all, "seed %d", seed)
		for i := range got {
			require.InDelta(t, want[i], float64(got[i].Time), float64(2*threads), "seed %d, thread %d", seed, i)
		}
	}
}

// divide divides a nanosecond of one waiting thread among the holders; without a holder, it is that of thread 0.
func divide(w *window.Window, at jvmthread.Time, among []float64) {
	var holders []jvmthread.ThreadID
	for _, h := range w.Holds {
		if h.Start <= at && at < h.End {
			holders = append(holders, h.Thread)
		}
	}
	if len(holders) == 0 {
		among[0]++
	}
	for _, h := range holders {
		among[h] += 1 / float64(len(holders))
	}
}

func TestEdgeAfterATime(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		edges := make([]edge, rng.IntN(40))
		at := jvmthread.Time(0)
		for i := range edges {
			at += 1 + jvmthread.Time(rng.IntN(3))
			edges[i].at = at
		}
		sought := jvmthread.Time(rng.IntN(90)) - 2
		want := 0
		for want < len(edges) && edges[want].at <= sought {
			want++
		}
		require.Equal(t, want, after(edges, sought, rng.IntN(len(edges)+2)))
	}
}

// The requests that waited longest have samples of their own; together with the rest, the samples are the sum.
func TestLinks(t *testing.T) {
	cfg := &Config{Links: 2, MaxSamples: 10, Budget: &contention.Budget{Limit: 10}}
	table := newTable(cfg)
	k := Key{Stack: 3, Wait: jvmthread.WaitLock}
	for i, d := range []time.Duration{5, 1, 9, 7, 2} {
		table.add(&k, Sum{1, d}, jvmthread.SpanContext{SpanID: [8]byte{byte(i + 1)}})
	}
	table.add(&k, Sum{1, 3}, jvmthread.SpanContext{SpanID: [8]byte{3}}) // its request has a sample
	table.add(&k, Sum{2, 100}, jvmthread.SpanContext{})
	assert.Equal(t, []Sample{
		{Key: k, Sum: Sum{5, 108}},
		{Key: k, Sum: Sum{2, 12}, Span: jvmthread.SpanContext{SpanID: [8]byte{3}}},
		{Key: k, Sum: Sum{1, 7}, Span: jvmthread.SpanContext{SpanID: [8]byte{4}}},
	}, table.take())
	assert.Empty(t, table.take())
	assert.Zero(t, cfg.Budget.Used())
}
