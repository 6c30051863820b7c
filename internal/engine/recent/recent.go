// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package recent answers: what was looked up last? Most events concern a thread or lock that was just used, and a map lookup takes a third
// of the time of an event.
package recent

// A cache begins with the least number of slots and grows to at most the most, 1 MB with keys and values of 8 bytes.
const (
	least = 1 << 6
	most  = 1 << 16
)

// Cache is a direct-mapped cache in front of a map or a search. A zero value means a miss, so callers store indices plus one. It grows with
// the number of keys, to fewer than eight slots for each.
type Cache[K comparable, V any] struct {
	slots []slot[K, V] // a power of two; nil: none yet
	used  int          // slots with a key
}

type slot[K comparable, V any] struct {
	key   K
	value V
}

// Get returns the value of a key, or the zero value. The hash only has to spread the keys.
func (c *Cache[K, V]) Get(hash uint32, key K) (value V) {
	if i := uint(hash) & uint(len(c.slots)-1); i < uint(len(c.slots)) { // not if there are none
		if s := &c.slots[i]; s.key == key {
			value = s.value
		}
	}
	return value
}

// Put replaces whichever key has the same slot. It does not keep the zero key.
func (c *Cache[K, V]) Put(hash uint32, key K, value V) {
	var none K
	if key == none {
		return
	}
	if len(c.slots) == 0 {
		c.slots = make([]slot[K, V], least)
	}
	s := c.slot(hash)
	switch {
	case s.key == none:
		c.used++
	case s.key != key && c.used >= len(c.slots)/4 && len(c.slots) < most:
		c.slots, c.used = make([]slot[K, V], 2*len(c.slots)), 1 // the other keys return when they are missed
		s = c.slot(hash)
	}
	s.key, s.value = key, value
}

func (c *Cache[K, V]) slot(hash uint32) *slot[K, V] {
	return &c.slots[uint(hash)&uint(len(c.slots)-1)]
}

// Clear forgets all keys. It is called before a cached value becomes invalid. A cache that was mostly empty shrinks.
func (c *Cache[K, V]) Clear() {
	if half := len(c.slots) / 2; half >= least && c.used < half/8 {
		c.slots = make([]slot[K, V], half)
	} else {
		clear(c.slots)
	}
	c.used = 0
}
