// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The merged result does not depend on how durations are divided among tallies.
func TestMergedTalliesAddUp(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var whole Tally
		parts := make([]Tally, 1+rng.IntN(4))
		for range rng.IntN(50) {
			length := rng.Int64N(1 << rng.IntN(40))
			began := rng.Int64N(2)
			whole.Add(began, length/2, length)
			parts[rng.IntN(len(parts))].Add(began, length/2, length)
		}
		var sum Tally
		for i := range parts {
			parts[i].Pack()
			sum.Merge(&parts[i])
		}
		assert.Equal(t, whole, sum)
		for _, q := range []int64{50, 95, 99} {
			assert.Equal(t, whole.Quantile(q), sum.Quantile(q))
		}
		_, counts := whole.Buckets()
		n := int64(0)
		for _, c := range counts {
			n += c
		}
		assert.Equal(t, whole.Seen, n)
	}
}

func TestClipRemovesEarlierTime(t *testing.T) {
	var whole, clipped Tally
	whole.Add(1, 10, 10)
	whole.Add(1, 30, 30)
	whole.Part(-1, -20)
	clipped.Add(1, 10, 10)
	clipped.Add(0, 10, 30)
	assert.Equal(t, clipped, whole)
}

func TestPackedSetsMatchSets(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var want, got Set
		for range 3 {
			var list []uint32
			most := 1 + rng.IntN(1<<rng.IntN(14))
			for range rng.IntN(60) {
				v := rng.IntN(most) + rng.IntN(2)*rng.IntN(5000)
				list = append(list, uint32(v))
				want.Add(v)
			}
			p := Pack(list)
			assert.LessOrEqual(t, p.Bytes(), int64(packedBytes+4*len(list)+8))
			p.AddTo(&got)
		}
		assert.Equal(t, want.Len(), got.Len())
		var both Set
		both.Merge(&want)
		both.Merge(&got)
		assert.Equal(t, want.Len(), both.Len())
	}
}
