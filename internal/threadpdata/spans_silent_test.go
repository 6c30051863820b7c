// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Roots have the time of a thousand threads that wait through whole windows, none of which has a span there.
//
//	          0 s       10 s      20 s      30 s  35 s
//	sleeper   ├ SLEEPING ────────────────────────┤
//	worker-*  ├ WAITING ─────────────────────────┤
//	other         ├┤                      ├┤
func TestSilentThreadsCountOnRoots(t *testing.T) {
	const second, workers = 1_000_000_000, 1000
	var b strings.Builder
	at := func(s float64, text string, args ...any) {
		fmt.Fprintf(&b, "%d "+text+"\n", append([]any{int64(s * second)}, args...)...)
	}
	at(0, "sleeper sleepStart")
	for i := range workers {
		at(0, "worker-%d wait lock=Queue", i)
	}
	for _, s := range []float64{5, 31} {
		at(s, "other sleepStart")
		at(s+1, "other sleepEnd")
	}
	at(35, "sleeper sleepEnd")
	for i := range workers {
		at(35, "worker-%d waited lock=Queue", i)
	}
	sums, spans := map[string]int64{}, []int{}
	for _, s := range traceOf(t, b.String(), "", false).All() {
		if !s.ParentSpanID().IsEmpty() {
			spans[len(spans)-1]++
			continue
		}
		spans = append(spans, 0)
		for _, key := range []string{"weft.time.sleeping", "weft.time.waiting", "weft.count.waiting", "weft.silent.threads", "weft.silent.time"} {
			if v, ok := s.Attributes().Get(key); ok {
				sums[key] += v.Int()
			}
		}
	}
	require.Len(t, spans, 4)
	assert.Zero(t, spans[1]+spans[2], "spans of windows without an event")
	const silent = 2 * (workers + 2) // in two windows, with other
	assert.Equal(t, map[string]int64{
		"weft.time.sleeping": 37 * second, "weft.time.waiting": 35 * workers * second, "weft.count.waiting": workers,
		"weft.silent.threads": silent, "weft.silent.time": silent * 10 * second,
	}, sums)
}
