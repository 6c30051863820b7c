// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/budget"
)

const mib = 1 << 20

// fill takes steps until the member is refused, and returns what it holds.
func fill(b *budget.Budget, step int) int64 {
	for b.Take(step) {
	}
	return b.Held()
}

func TestRootHasALimit(t *testing.T) {
	b := budget.New(10)
	assert.True(t, b.Take(6))
	assert.False(t, b.Take(5))
	assert.True(t, b.Take(4))
	assert.False(t, b.Take(1))
	b.Give(3)
	assert.EqualValues(t, 7, b.Held())
	assert.EqualValues(t, 10, b.Member(0.5).Member(0.5).Limit())
	assert.True(t, b.Set(7, 10))
	assert.False(t, b.Set(10, 11))
	assert.True(t, b.Set(10, 0))
	assert.Zero(t, b.Held())
}

func TestNilHasNoLimit(t *testing.T) {
	var b *budget.Budget
	assert.True(t, b.Take(1<<60))
	assert.True(t, b.Member(0.5).Take(1))
	b.Force(1)
	b.Give(1 << 60)
	b.Close()
	assert.Zero(t, b.Held())
	assert.Zero(t, b.Limit())
}

// The table of Member.
func TestGreedyMembersGetAsMuchEach(t *testing.T) {
	for _, test := range []struct {
		share   float64
		members int
		want    float64 // percent
	}{
		{0.75, 1, 75},
		{0.75, 2, 42.9},
		{0.75, 10, 9.7},
		{0.5, 1, 50},
		{0.5, 2, 33.3},
		{0.5, 10, 9.1},
		{1. / 32, 1, 3.1},
		{1. / 32, 2, 3.0},
		{1. / 32, 10, 2.4},
		{1. / 32, 1000, 0.097},
	} {
		root := budget.New(512 * mib)
		members := make([]*budget.Budget, test.members)
		for i := range members {
			members[i] = root.Member(test.share)
		}
		for more := true; more; {
			more = false
			for _, m := range members {
				more = m.Take(512) || more
			}
		}
		for _, m := range members {
			assert.InDelta(t, test.want, 100*float64(m.Held())/(512*mib), 0.06, "share %v of %d", test.share, test.members)
		}
	}
}

// However many members take all they can, another one gets as much as each of them, and one of another parent gets more.
func TestNewcomerGetsIn(t *testing.T) {
	root := budget.New(512 * mib)
	crowd := root.Member(0.75)
	members := make([]*budget.Budget, 500)
	for i := range members {
		members[i] = crowd.Member(1. / 32)
	}
	for more := true; more; {
		more = false
		for _, m := range members {
			more = m.Take(1024) || more
		}
	}
	assert.InDelta(t, 384*mib, crowd.Held(), 10*mib)
	assert.Greater(t, fill(crowd.Member(1./32), 1024), members[0].Held()*8/10)
	assert.Greater(t, fill(root.Member(0.75).Member(1./32), 1024), int64(3*mib))
}

func TestForceLeavesNoRoom(t *testing.T) {
	root := budget.New(100)
	closing := root.Member(0.5)
	closing.Force(150)
	assert.EqualValues(t, 150, root.Held())
	other := root.Member(0.5)
	assert.False(t, other.Take(1))
	closing.Close()
	assert.True(t, other.Take(40))
	assert.EqualValues(t, 40, root.Held())
}

func TestGivingTooMuchPanics(t *testing.T) {
	assert.Panics(t, func() { budget.New(10).Give(1) })
}

func TestConcurrentUseNeverExceedsTheLimit(t *testing.T) {
	root := budget.New(10_000)
	var wg sync.WaitGroup
	for seed := range uint64(8) {
		m := root.Member(0.9)
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, 1))
			held := 0
			for range 20_000 {
				n := random.IntN(3000)
				switch {
				case m.Take(n):
					held += n
				case held > 0:
					m.Give(held)
					held = 0
				}
				if m.Held() != int64(held) {
					t.Errorf("holds %d, counted %d", held, m.Held())
				}
			}
			m.Close()
		})
	}
	wg.Wait()
	require.Zero(t, root.Held())
}

func BenchmarkTake(b *testing.B) {
	m := budget.New(1 << 40).Member(0.75).Member(1. / 32)
	b.ReportAllocs()
	for b.Loop() {
		m.Take(100)
		m.Give(100)
	}
}
