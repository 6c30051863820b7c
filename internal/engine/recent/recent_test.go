// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recent

import (
	"math/rand/v2"
	"testing"
)

// mix spreads keys.
func mix(key uint64) uint32 {
	key = (key ^ key>>31) * 0x94d049bb133111eb
	return uint32((key ^ key>>29) * 0xbf58476d1ce4e5b9 >> 32)
}

// Whatever was stored before, a key has its own value or none.
func TestGetReturnsTheKeysOwnValue(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var c Cache[uint64, int]
	stored, hits := make(map[uint64]int), 0
	for i := range 200_000 {
		if i%50_000 == 49_999 {
			c.Clear()
			clear(stored)
		}
		key := random.Uint64N(1 << random.IntN(14))
		hash := mix(key)
		if value := c.Get(hash, key); value != 0 {
			hits++
			if value != stored[key] {
				t.Fatalf("key %d has %d, want %d", key, value, stored[key])
			}
			continue
		}
		c.Put(hash, key, i+1)
		stored[key] = i + 1
	}
	if hits < 140_000 {
		t.Errorf("%d hits of 200000", hits)
	}
}

// A cache has room for all keys with consecutive hashes, and for most with random ones, in memory that is proportional to their number.
func TestSizeFollowsTheNumberOfKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, keys := range []int{1, 10, 60, 1000, 5000, 20_000} {
		for name, hash := range map[string]func(uint64) uint32{
			"consecutive": func(key uint64) uint32 { return uint32(key) },
			"random":      mix,
		} {
			var c Cache[uint64, int]
			access := func(n int) (hits int) {
				for range n {
					key := 1 + random.Uint64N(uint64(keys))
					if c.Get(hash(key), key) != 0 {
						hits++
					} else {
						c.Put(hash(key), key, 1)
					}
				}
				return hits
			}
			access(40 * keys)
			if share := float64(access(20*keys)) / float64(20*keys); share < 0.75 || name == "consecutive" && share < 1 {
				t.Errorf("%d keys, %s: %.2f are hits", keys, name, share)
			}
			if len(c.slots) > max(least, 8*keys) {
				t.Errorf("%d keys, %s: %d slots", keys, name, len(c.slots))
			}
		}
	}
}

// Keys that always share a slot do not let a cache grow.
func TestCollisionsDoNotGrowIt(t *testing.T) {
	var c Cache[int, int]
	for i := range 100_000 {
		c.Put(7, 1+i%40, 1)
		c.Put(0, 0, 1)
	}
	if len(c.slots) != least {
		t.Errorf("%d slots, want %d", len(c.slots), least)
	}
}

// After a burst of keys, a cache becomes small again.
func TestClearShrinksIt(t *testing.T) {
	var c Cache[int, int]
	for i := range 100_000 {
		c.Put(uint32(i), i, 1)
	}
	if len(c.slots) != most {
		t.Errorf("%d slots, want %d", len(c.slots), most)
	}
	for range 20 {
		c.Clear()
		if c.Get(5, 5) != 0 {
			t.Fatal("a key was not forgotten")
		}
		c.Put(5, 5, 1)
	}
	if len(c.slots) != least {
		t.Errorf("%d slots, want %d", len(c.slots), least)
	}
}
