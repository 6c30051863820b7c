// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Wherever a row of hand-overs is cut, its parts come to the same, and that is what looking at each of them finds.
func TestRelaysAddUp(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var whole, cut, part Relay
		longest, run, last := 0, 0, -1
		for range 1 + rng.IntN(30) {
			from, to := rng.IntN(3), rng.IntN(3)
			if from != last {
				run = 0
			}
			run++
			longest, last = max(longest, run), to
			whole.Add(Handoff(from, to))
			part.Add(Handoff(from, to))
			if rng.IntN(4) == 0 {
				cut.Add(part)
				part = Relay{}
			}
		}
		cut.Add(part)
		assert.Equal(t, whole, cut)
		assert.EqualValues(t, longest, whole.Longest)
	}
}

func TestPeak(t *testing.T) {
	come := func(at int64) int64 { return at<<1 | 1 }
	leave := func(at int64) int64 { return at << 1 }
	assert.Equal(t, 0, Peak(nil))
	assert.Equal(t, 2, Peak([]int64{come(1), leave(5), come(3), leave(9)}))
	assert.Equal(t, 1, Peak([]int64{come(1), leave(5), come(5), leave(9)}), "who leaves goes before who comes")
}
