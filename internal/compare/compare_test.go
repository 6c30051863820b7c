// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func key(object string) Key { return Key{Kind: "lock", Object: object, Site: "Shop.buy"} }

func run(length time.Duration, waits map[string]Sum) *Run {
	r := &Run{Length: length}
	for object, s := range waits {
		r.Add(key(object), s)
	}
	return r
}

// The second run is twice as long, so that twice the time is the same.
func TestVerdicts(t *testing.T) {
	before := run(time.Minute, map[string]Sum{
		"Book": {1000, 10 * time.Second}, "Account": {1000, 10 * time.Second}, "Cart": {1000, 10 * time.Second}, "Old": {1, time.Second},
		"Rare": {4, time.Second}, "Tiny": {100, time.Microsecond},
	})
	after := run(2*time.Minute, map[string]Sum{
		"Book": {4000, 60 * time.Second}, "Account": {1000, 5 * time.Second}, "Cart": {2100, 21 * time.Second}, "New": {1, 3 * time.Second},
		"Rare": {4, 3 * time.Second}, "Tiny": {900, 9 * time.Microsecond},
	})
	c := Runs(before, after)
	got := make(map[string]string)
	var order []string
	for i := range c.Changes {
		got[c.Changes[i].Object] = string(c.Changes[i].Verdict)
		order = append(order, c.Changes[i].Object)
	}
	assert.Equal(t, map[string]string{
		"Book": "worse", "Account": "better", "Cart": "same", "Old": "gone", "New": "new", "Rare": "same", "Tiny": "same",
	}, got)
	assert.Equal(t, "Book", order[0])
	assert.Equal(t, PerSecond, c.Unit)
	assert.Equal(t, 1e9/6, c.Changes[0].BeforeRate)
	assert.Equal(t, 1e9/2, c.Changes[0].AfterRate)
	assert.Equal(t, Worse, c.Total.Verdict)
}

func TestPerRequest(t *testing.T) {
	before, after := run(time.Minute, map[string]Sum{"Book": {1000, 10 * time.Second}}), run(time.Minute, map[string]Sum{"Book": {2000, 20 * time.Second}})
	assert.Equal(t, Worse, Runs(before, after).Changes[0].Verdict)
	before.Requests, after.Requests = 500, 1000
	c := Runs(before, after)
	assert.Equal(t, PerRequest, c.Unit)
	assert.Equal(t, Same, c.Changes[0].Verdict)
	assert.Equal(t, 2e7, c.Changes[0].AfterRate)
}

// Two halves of one random run rarely differ, and an exchange of the runs exchanges the verdicts.
func TestChanceIsNoChange(t *testing.T) {
	opposite := map[Verdict]Verdict{Same: Same, Worse: Better, Better: Worse, New: Gone, Gone: New}
	wrong := 0
	const turns = 500
	for seed := range uint64(turns) {
		rng := rand.New(rand.NewPCG(seed, 7))
		runs := [2]*Run{{Length: time.Minute}, {Length: time.Minute}}
		for _, r := range runs {
			for range 50 + rng.IntN(8) {
				r.Add(key("Book"), Sum{1, time.Duration(rng.ExpFloat64() * 1e7)})
			}
		}
		there, back := Runs(runs[0], runs[1]), Runs(runs[1], runs[0])
		require.Equal(t, opposite[there.Changes[0].Verdict], back.Changes[0].Verdict)
		if there.Changes[0].Verdict != Same {
			wrong++
		}
	}
	assert.Less(t, wrong, turns/20)
}

func TestEmptyRuns(t *testing.T) {
	c := Runs(&Run{}, &Run{})
	assert.Empty(t, c.Changes)
	assert.Equal(t, Same, c.Total.Verdict)
	c = Runs(&Run{}, run(time.Second, map[string]Sum{"Book": {1, 5}}))
	assert.Equal(t, New, c.Changes[0].Verdict)
}

// Among hundreds of parts that differ by chance only, none is worse or better.
func TestManyParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	sum := func() Sum {
		s := Sum{Count: 100}
		for range s.Count {
			s.Time += time.Duration(rng.ExpFloat64() * 1e6)
		}
		return s
	}
	whole := func() *Run { return run(time.Minute, map[string]Sum{"Book": {10_000, time.Second}}) }
	c := Runs(whole(), whole())
	assert.Equal(t, 1.0, c.Scale())
	few, many := 0, 0
	for range 500 {
		before, after := sum(), sum()
		if c.Judge(before, after, 2) != Same {
			few++
		}
		if c.Judge(before, after, 500) != Same {
			many++
		}
	}
	assert.Positive(t, few)
	assert.Zero(t, many)
	assert.Equal(t, Worse, c.Judge(Sum{100, 100 * time.Millisecond}, Sum{200, 200 * time.Millisecond}, 500))
	assert.Equal(t, New, c.Judge(Sum{}, Sum{200, 200 * time.Millisecond}, 500))
}
