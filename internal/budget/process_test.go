// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package budget_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/budget"
)

func TestPartsCountInTheProcess(t *testing.T) {
	root := new(budget.Root)
	store := root.New(budget.Store, 100)
	member := root.New(budget.Buffers, 0).Member(0.5)
	assert.True(t, store.Take(100))
	assert.False(t, store.Take(1), "its own limit")
	assert.True(t, member.Take(1<<40))
	held := make(map[string]int64)
	root.Parts(func(p budget.Part, bytes int64) { held[p.String()] = bytes })
	assert.Equal(t, map[string]int64{"store": 100, "buffers": 1 << 40}, held)
	store.Close()
	assert.Zero(t, root.Held(budget.Store))
}

// No part gets so much that another one cannot have its reserve.
func TestReservesAreLeft(t *testing.T) {
	root := new(budget.Root)
	assert.Zero(t, root.SetLimit(160*mib))
	store, sessions := root.New(budget.Store, 0), root.New(budget.Sessions, 0)
	buffers, definitions := root.New(budget.Buffers, 0), root.New(budget.Definitions, 50*mib)
	assert.EqualValues(t, (160-40-10-10)*mib, fill(store, mib))
	assert.EqualValues(t, 10*mib, fill(definitions, mib))
	assert.EqualValues(t, 10*mib, fill(buffers, mib))
	limit, held := root.Elastic()
	assert.EqualValues(t, 40*mib, limit)
	assert.Zero(t, held)

	store.Force(100 * mib) // cannot wait
	sessions.Force(30 * mib)
	buffers.Give(10 * mib)
	assert.EqualValues(t, 10*mib, fill(buffers, mib), "a reserve is left even then")
	limit, held = root.Elastic()
	assert.EqualValues(t, 40*mib, limit)
	assert.EqualValues(t, 30*mib, held)
	assert.False(t, store.Take(1))
	store.Give(200 * mib)
	assert.True(t, store.Take(50*mib))
}

// Others do not push sessions so far that these cut windows.
func TestOthersLeaveRoomAboveSessions(t *testing.T) {
	root := new(budget.Root)
	root.SetLimit(160 * mib)
	sessions, store := root.New(budget.Sessions, 0), root.New(budget.Store, 0)
	sessions.Force(70 * mib)
	assert.EqualValues(t, 80*mib, fill(store, mib))
	limit, held := root.Elastic()
	assert.LessOrEqual(t, held, limit*7/8)
}

func TestLimitsThatUsersChooseShouldFit(t *testing.T) {
	root := new(budget.Root)
	store := root.New(budget.Store, 60).Choose(true)
	root.New(budget.Definitions, 1000).Choose(false)
	_, need := root.Misfit()
	assert.Zero(t, need, "no limit")
	root.SetLimit(64)
	_, need = root.Misfit()
	assert.Zero(t, need)
	buffers := root.New(budget.Buffers, 10).Choose(true)
	chosen, need := root.Misfit()
	assert.EqualValues(t, 60+10+64/16, need)
	assert.Equal(t, map[budget.Part]int64{budget.Store: 60, budget.Buffers: 10}, chosen)
	store.Close()
	buffers.Close()
	_, need = root.Misfit()
	assert.Zero(t, need)
}

// A flood of definitions leaves as much to what needs the same texts.
func TestDefinitionsTakeHalfOfWhatIsFree(t *testing.T) {
	root := new(budget.Root)
	root.SetLimit(100 * mib)
	assert.EqualValues(t, 50*mib, fill(root.New(budget.Definitions, 512*mib), mib))
}

func TestLimitOfTheProcessIsKeptConcurrently(t *testing.T) {
	root := new(budget.Root)
	root.SetLimit(10_000)
	var wg sync.WaitGroup
	for _, part := range []budget.Part{budget.Buffers, budget.Store, budget.Queries} {
		for range 2 {
			b := root.New(part, 8_000)
			wg.Go(func() {
				for n := range 20_000 {
					if b.Take(n % 3000) {
						b.Change(int(b.Held()), n%100)
					}
				}
				b.Close()
			})
		}
	}
	wg.Wait()
	root.Parts(func(p budget.Part, held int64) { require.Fail(t, "not given back", "%s: %d", p, held) })
}

func BenchmarkTakeOfAPart(b *testing.B) {
	root := new(budget.Root)
	root.SetLimit(1 << 40)
	m := root.New(budget.Definitions, 1<<39).Member(0.75).Member(1. / 32)
	b.ReportAllocs()
	for b.Loop() {
		m.Take(100)
		m.Give(100)
	}
}
