// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// For any values in any order, every value is in its bucket, the size limit holds, and the first and last buckets are not empty.
func TestExponential(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		size := 2 + rng.IntN(40)
		var x Exponential
		var values []time.Duration
		spread := 1 + rng.IntN(62)
		for range 1 + rng.IntN(200) {
			d := time.Duration(rng.Uint64()>>(63-uint(rng.IntN(spread+1)))) >> 1
			values = append(values, d)
			x.add(d, 1, size)
		}
		want := make(map[int32]uint64)
		zero := uint64(0)
		for _, d := range values {
			if d == 0 {
				zero++
				continue
			}
			want[bucket(d.Seconds(), x.Scale)]++
		}
		got := make(map[int32]uint64)
		for i, n := range x.Counts {
			if n > 0 {
				got[x.Offset+int32(i)] = n
			}
		}
		require.Equal(t, want, got)
		require.Equal(t, zero, x.Zero)
		require.LessOrEqual(t, len(x.Counts), size)
		if n := len(x.Counts); n > 0 {
			require.NotZero(t, x.Counts[0])
			require.NotZero(t, x.Counts[n-1])
		}
	}
}

// Bucket i is (base^i, base^(i+1)], as in the data model.
func TestBucketBounds(t *testing.T) {
	for scale := int32(-10); scale <= 20; scale++ {
		for _, v := range []float64{1e-9, 3e-7, 0.001, 0.25, 0.5, 1, 2, 1024, 1 << 20, 3.7e9, 9e9} {
			i := bucket(v, scale)
			low, high := math.Exp2(math.Ldexp(float64(i), -int(scale))), math.Exp2(math.Ldexp(float64(i+1), -int(scale)))
			assert.LessOrEqual(t, low, v*(1+1e-9), "%v at scale %d", v, scale)
			assert.GreaterOrEqual(t, high, v*(1-1e-9), "%v at scale %d", v, scale)
			if frac, _ := math.Frexp(v); frac == 0.5 && scale >= 0 {
				assert.Equal(t, v, high, "a power of two is the upper bound of its bucket")
			}
		}
	}
}

func TestExemplarsDifferInMagnitude(t *testing.T) {
	var h Histogram
	for _, d := range []time.Duration{1000, 1001, 1002, 5, 70, 4000, 1003, 3, 100_000} {
		if h.wants(d, 3) {
			h.keep(Exemplar{Duration: d}, 3)
		}
	}
	var got []time.Duration
	for _, e := range h.Exemplars {
		got = append(got, e.Duration)
	}
	assert.ElementsMatch(t, []time.Duration{100_000, 4000, 1003}, got)
	h.flushed(false)
	assert.Len(t, h.Exemplars, 3, "exemplars stay after a flush")
	h.keep(Exemplar{Duration: 1}, 3)
	assert.Len(t, h.Exemplars, 1, "a new exemplar replaces the reported ones")
}

func TestPool(t *testing.T) {
	for name, want := range map[string]string{
		"main":                      "main",
		"http-exec-12":              "http-exec-*",
		"http-nio-8080-exec-7":      "http-nio-*-exec-*",
		"ForkJoinPool-1-worker-3":   "ForkJoinPool-*-worker-*",
		"pool2thread17":             "pool*thread*",
		"session 3fa9c2d1e0 reader": "session * reader",
		"deadbeef":                  "deadbeef",
		"G1 Conc#0":                 "G* Conc#*",
		"Ünïcode-4":                 "Ünïcode-*",
		"":                          "",
	} {
		assert.Equal(t, want, Pool(name), name)
	}
}
