// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"math/rand/v2"
	"slices"

	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// batches cuts a history as an agent might: some events arrive one batch late, which the watermarks allow for.
func batches(events []jvmthread.Event, rng *rand.Rand) (out []ordering.Batch) {
	end := lastTime(events) + 1
	var batch, before uint64
	var late []jvmthread.Event
	for len(events) > 0 {
		n := min(len(events), 1+rng.IntN(40))
		mine := slices.Concat(late, events[:n])
		late = nil
		events = events[n:]
		watermark := mine[len(mine)-1].Time + 1
		if len(events) > 0 && rng.IntN(2) == 0 { // a thread was slow to write its last events
			slow := mine[rng.IntN(len(mine))]
			mine = slices.DeleteFunc(mine, func(ev jvmthread.Event) bool {
				if ev.Thread == slow.Thread && ev.Time >= slow.Time {
					late = append(late, ev)
					return true
				}
				return false
			})
			watermark = slow.Time
		}
		batch++
		out = append(out, batchOf(batch, before, mine, watermark))
		before += uint64(len(mine))
	}
	return append(out, batchOf(batch+1, before, late, end))
}
