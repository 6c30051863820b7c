// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Aggregates produce the same metrics as events, except for data that they do not contain.
func TestAggregate(t *testing.T) {
	cfg := config()
	cfg.Buckets = []time.Duration{time.Microsecond, time.Millisecond, time.Second}
	sym := symbols.New(symbols.DefaultLimits())
	a := contention.New(cfg, sym, nil, time.Unix(1, 0))
	book := sym.InternClass("com.acme.OrderBook")
	for range 2 {
		a.Aggregate(&jvmthread.Aggregate{Scale: 0, Series: []jvmthread.Series{
			{Kind: jvmthread.KindContendedEnter, Class: book, Sum: 1_700_000, Max: 900_000, Zero: 1, Offset: 9, Buckets: []uint64{3, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1}},
			{Kind: jvmthread.KindSleepStart, Sum: 5e9, Max: 5e9, Offset: 32, Buckets: []uint64{1}},
			{Kind: jvmthread.KindPark, Overflow: true, Sum: 10, Max: 10, Offset: 3, Buckets: []uint64{1}},
			{Kind: jvmthread.KindNotify, Sum: 1, Max: 1, Zero: 1}, // not the start of a wait
		}})
	}
	a.Flush(nil, time.Unix(2, 0), false, func(st *contention.Statement) {
		blocked := st.Blocked
		require.Len(t, blocked, 1)
		assert.Equal(t, contention.WaitKey{Class: book, Kind: jvmthread.WaitLock}, blocked[0].Key)
		assert.Equal(t, uint64(2*7), blocked[0].Value.Count)
		assert.Equal(t, 2*1_700_000*time.Nanosecond, blocked[0].Value.Time)
		h := blocked[0].Value.Durations[window.CauseUnknown]
		require.NotNil(t, h)
		// Bucket 2^9 to 2^10 ns ends at 1.024 us; bucket 2^19 to 2^20 ns ends at 1.05 ms, but the maximum is 0.9 ms.
		assert.Equal(t, []uint64{2 * 1, 2 * 6, 0, 0}, h.Buckets)
		assert.Equal(t, time.Duration(0), h.Min)
		assert.Equal(t, 900_000*time.Nanosecond, h.Max)
		waits := st.Waits
		require.Len(t, waits, 2)
		assert.Equal(t, jvmthread.WaitSleep, waits[0].Key.Kind)
		assert.Equal(t, 10*time.Second, waits[0].Value.Durations[window.CauseNone].Sum)
		assert.True(t, waits[1].Overflow)
		assert.Equal(t, jvmthread.WaitPark, waits[1].Key.Kind)
		assert.Equal(t, 10*time.Second, st.States[0].Value[jvmthread.StateSleeping])
	})
}

// A sum that has become very large restarts at the next flush with a new start time; until then it saturates.
func TestLargeSumsRestart(t *testing.T) {
	for _, buckets := range [][]time.Duration{{time.Second}, nil} {
		cfg := config()
		cfg.Buckets, cfg.MaxSize = buckets, 20
		sym := symbols.New(symbols.DefaultLimits())
		a := contention.New(cfg, sym, nil, time.Unix(1, 0))
		add := func(n int, d time.Duration, waits uint64) {
			for range n {
				a.Aggregate(&jvmthread.Aggregate{Series: []jvmthread.Series{
					{Kind: jvmthread.KindContendedEnter, Class: sym.InternClass("com.acme.OrderBook"), Sum: int64(d), Max: int64(d), Zero: waits},
				}})
			}
		}
		expect := func(at, start int64, d time.Duration, waits uint64) {
			t.Helper()
			a.Flush(nil, time.Unix(at, 0), false, func(st *contention.Statement) {
				b := st.Blocked[0]
				assert.Equal(t, time.Unix(start, 0), b.Start)
				assert.Equal(t, d, b.Value.Time)
				assert.Equal(t, waits, b.Value.Count)
				if h := b.Value.Durations[window.CauseUnknown]; assert.NotNil(t, h) {
					assert.Equal(t, d, h.Sum)
					assert.Equal(t, waits, h.Count)
					if buckets != nil {
						assert.Equal(t, []uint64{waits, 0}, h.Buckets)
					} else {
						assert.Equal(t, waits, h.Scaled.Zero)
					}
				}
				assert.Equal(t, time.Unix(start, 0), st.States[0].Start)
				assert.Equal(t, d, st.States[0].Value[jvmthread.StateBlocked])
			})
		}
		add(3, math.MaxInt64/8, 2)
		expect(2, 1, math.MaxInt64/8*3, 6)
		add(1, math.MaxInt64/8*3, 1)
		expect(3, 1, math.MaxInt64/8*6, 7)
		add(2, 10, 1)
		expect(4, 3, 20, 2)
		add(3, math.MaxInt64, math.MaxInt64)
		expect(5, 3, math.MaxInt64, math.MaxInt64)
		add(1, 7, 1)
		expect(6, 5, 7, 1)
	}
}
