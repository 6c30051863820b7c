// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/threadpdata"
)

// A session that moves between two collectors has each event in one window, and no two windows with the same start, which is their ID: also if
// it comes back to a collector that still follows it, or to one that has crashed, been stopped, or given it up meanwhile.
//
//	one   1 2 ╳ · · · · 6 7 · ·  (crash, stop, or neither)
//	other · · 3 4 5 · · · · 8 9
func TestMovedSessionHasEachEventOnce(t *testing.T) {
	back := 0
	for seed := range uint64(400) {
		synctest.Test(t, func(t *testing.T) {
			batches := program(seed)
			rng := rand.New(rand.NewPCG(seed, 7))
			disks := []*disk{newDisk(), newDisk()}
			lives := []*life{begin(disks[0], nil), begin(disks[1], nil)}
			var got []string
			at := 0
			for i, td := range batches {
				if i > 0 && rng.IntN(4) == 0 {
					back++
					switch rng.IntN(4) {
					case 0:
						lives[at].crash()
						got = append(got, lives[at].got...)
						lives[at] = begin(disks[at], nil)
					case 1:
						lives[at].Shutdown(t.Context())
						got = append(got, lives[at].got...)
						lives[at] = begin(disks[at], nil)
					}
					at = 1 - at
					time.Sleep([]time.Duration{6 * time.Second, 10 * time.Second, 2 * time.Minute}[rng.IntN(3)]) // in the synctest bubble
				}
				lives[at].Consume(t.Context(), td)
				time.Sleep(1500 * time.Millisecond) // for the patience of a collector that is joined
				synctest.Wait()
			}
			time.Sleep(2 * time.Minute)
			for _, l := range lives {
				l.Shutdown(t.Context())
				got = append(got, l.got...)
			}
			checkWindows(t, seed, got, batches)
			for _, d := range disks {
				assert.Subset(t, []string{"sessions", "ended"}, slices.Collect(maps.Keys(d.data)), "the journal forgets sessions that have ended or moved")
			}
		})
	}
	assert.Greater(t, back, 200)
}

// checkWindows compares windows with the batches of a session.
func checkWindows(t *testing.T, seed uint64, got []string, batches []ptrace.Traces) {
	t.Helper()
	want, have := int64(0), int64(0)
	for _, td := range batches {
		want += threadpdata.CountEvents(td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0))
	}
	starts := make(map[int]string)
	for _, w := range got {
		from, to, cut, events, missed := windowOf(t, w)
		have += int64(events)
		if from == to && cut == "lost" && events == 0 {
			continue // in the nanosecond of the watermark, in which others have an event only here, where a window has 300 ns
		}
		assert.Zero(t, missed, "program %d", seed)
		assert.Empty(t, starts[from], "program %d: two windows start at %d: %d to %d by %s", seed, from, from, to, cut)
		starts[from] = fmt.Sprintf("%d to %d by %s %d events", from, to, cut, events)
	}
	assert.Equal(t, want, have, "events of program %d: %v", seed, starts)
}

// windowOf reads what a describer says of a window.
func windowOf(t *testing.T, text string) (from, to int, cut string, events, missed int) {
	t.Helper()
	_, err := fmt.Sscanf(text, "%d to %d by %s %d events, %d missed", &from, &to, &cut, &events, &missed)
	require.NoError(t, err)
	return from, to, strings.TrimSuffix(cut, ":"), events, missed
}
