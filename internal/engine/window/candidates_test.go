// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestCandidatesKeepLongest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		all, kept := []candidate(nil), candidates{room: rng.IntN(20)}
		for i := range rng.IntN(100) {
			c := candidate{length: time.Duration(rng.IntN(1 + rng.IntN(50))), lane: int32(rng.IntN(3)), index: int32(i)}
			all = append(all, c)
			kept.add(c)
		}
		slices.SortFunc(all, longest)
		slices.SortFunc(kept.list, longest)
		if want := all[:min(len(all), kept.room)]; !slices.Equal(kept.list, want) {
			t.Fatalf("limit %d: got %v, want %v", kept.room, kept.list, want)
		}
	}
}
