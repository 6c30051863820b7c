// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Handoff runs merged from parts, wherever these are cut, equal those of the whole and those found one by one.
func TestHandoffRunsMerge(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var whole, merged, part HandoffRuns[int]
		longest, position, last := 0, 0, -1
		for range 1 + rng.IntN(30) {
			from, to := rng.IntN(3), rng.IntN(3)
			if from != last {
				position = 0
			}
			position++
			longest, last = max(longest, position), to
			assert.EqualValues(t, position, whole.Add(from, to))
			part.Add(from, to)
			if rng.IntN(4) == 0 {
				merged.Merge(part)
				part = HandoffRuns[int]{}
			}
		}
		merged.Merge(part)
		assert.Equal(t, whole, merged)
		assert.EqualValues(t, longest, whole.Longest)
	}
}

func TestPeak(t *testing.T) {
	assert.Equal(t, 0, Peak(nil))
	assert.Equal(t, 2, Peak([]Turn{Enter(1), Leave(5), Enter(3), Leave(9)}))
	assert.Equal(t, 1, Peak([]Turn{Enter(1), Leave(5), Enter(5), Leave(9)}), "threads leave before others enter")
}
