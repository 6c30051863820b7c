// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

// byKey maps the keys of constants to values. JVMs number most constants from 1, so nearly all of them are found in a list.
type byKey[V any] struct {
	small []entry[V]
	large map[int64]V
}

type entry[V any] struct {
	value V
	known bool
}

// smallKeys limits the length of byKey.small.
const smallKeys = 1 << 16

func (m *byKey[V]) get(key int64) (value V, ok bool) {
	if uint64(key) < uint64(len(m.small)) {
		e := &m.small[key]
		return e.value, e.known
	}
	value, ok = m.large[key]
	return value, ok
}

func (m *byKey[V]) set(key int64, value V) {
	if key < 0 || key >= smallKeys {
		if m.large == nil {
			m.large = make(map[int64]V)
		}
		m.large[key] = value
		return
	}
	if n := int(key) + 1 - len(m.small); n > 0 {
		m.small = append(m.small, make([]entry[V], n)...)
	}
	m.small[key] = entry[V]{value, true}
}
