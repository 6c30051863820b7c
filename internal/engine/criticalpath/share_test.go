// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Equal shares are in the order of the path, whatever the IDs are: a collector that continues a session has other ones.
func TestEqualSharesAreInTheOrderOfThePath(t *testing.T) {
	for _, stacks := range [][]jvmthread.StackID{{1, 2, 3}, {3, 2, 1}, {2, 3, 1}} {
		var p criticalpath.Path
		for i, stack := range stacks { // each wait led to the next one
			p.Waits = append(p.Waits, criticalpath.Wait{Stack: stack, Kind: jvmthread.WaitLock, Parent: int32(i) - 1})
		}
		p.Segments = []criticalpath.Segment{{Start: 10, End: 30, Via: int32(len(stacks) - 1)}}
		var got []jvmthread.StackID
		for _, s := range p.AppendShares(nil, criticalpath.BySite) {
			assert.Equal(t, jvmthread.Time(20), s.Time)
			got = append(got, s.Group.Stack)
		}
		assert.Equal(t, stacks, got)
	}
}
