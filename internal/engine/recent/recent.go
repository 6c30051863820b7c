// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package recent answers: what was looked up last? Most events concern a thread or lock that was just used, and a map lookup takes a third
// of the time of an event.
package recent

const size = 64

// Cache is a direct-mapped cache in front of a map or a search. A zero value means a miss, so callers store indices plus one.
type Cache[K comparable, V any] struct {
	slots [size]struct {
		key   K
		value V
	}
}

// Get returns the value of a key, or the zero value. The hash only has to spread the keys.
func (c *Cache[K, V]) Get(hash uint32, key K) (value V) {
	if s := &c.slots[hash%size]; s.key == key {
		value = s.value
	}
	return value
}

// Put replaces whichever key has the same slot.
func (c *Cache[K, V]) Put(hash uint32, key K, value V) {
	s := &c.slots[hash%size]
	s.key, s.value = key, value
}

// Clear forgets all keys. It is called before a cached value becomes invalid.
func (c *Cache[K, V]) Clear() { clear(c.slots[:]) }
