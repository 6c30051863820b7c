// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Times are kept like in a map, whatever the IDs are, and need no memory for threads that are forgotten.
func TestDescribedIsAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, ids := range []jvmthread.ThreadID{10, 1000, 2 * pageIDs * maxPages, 1 << 63} {
		var d described
		want := make(map[jvmthread.ThreadID]jvmthread.Time)
		known := make([]jvmthread.ThreadID, 100)
		for i := range known {
			known[i] = jvmthread.ThreadID(random.Uint64N(uint64(ids)))
		}
		for step := range 10_000 {
			id, at := known[random.IntN(len(known))], jvmthread.Time(random.IntN(3)*(step+1))
			require.Equal(t, want[id], d.at(id))
			if d.set(id, at); at == 0 {
				delete(want, id)
			} else {
				want[id] = at
			}
		}
		assert.NotZero(t, d.size())
		for _, id := range known {
			d.set(id, 0)
		}
		assert.Zero(t, d.size())
	}
}
