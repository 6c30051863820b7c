// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"slices"
	"sync/atomic"
	"time"
)

// Budget bounds the series of all sessions together: each entry of a table and each histogram uses one unit. It is safe for concurrent use.
type Budget struct {
	Limit int64
	used  atomic.Int64
}

// Take uses a unit, unless all are in use.
func (b *Budget) Take() bool {
	if b.used.Add(1) > b.Limit {
		b.used.Add(-1)
		return false
	}
	return true
}

// Give returns units.
func (b *Budget) Give(n int) { b.used.Add(int64(-n)) }

// Used returns the units in use.
func (b *Budget) Used() int64 { return b.used.Load() }

// Series is the sum for one combination of attributes.
type Series[K comparable, V any] struct {
	Lifetime

	Key   K
	Value V
	dirty bool // changed since the last flush
	cost  int  // units of the budget
}

// Lifetime is what series have in common, whatever they sum up.
type Lifetime struct {
	Start    time.Time // no earlier events are included
	Touched  time.Time // time of the last flush with a change
	Overflow bool      // sums up all combinations beyond the limit; Key has only the dimensions with few values
	Expired  bool      // unchanged for long: reported for the last time
}

// Changed reports whether the series changed since the last flush.
func (s *Series[K, V]) Changed() bool { return s.dirty }

// table contains the series of one kind.
type table[K comparable, V any] struct {
	account  *Account
	series   map[K]*Series[K, V]
	overflow map[K]*Series[K, V] // by reduced key
	last     *Series[K, V]       // cache: consecutive intervals often belong to one lock

	compare func(a, b K) int
	reduce  func(K) K // keeps the dimensions of a key with few values
	// next prepares a value for the next interval and reports whether its sums restarted, as they do with delta. It is nil if values are not
	// sums but describe the present moment.
	next func(v *V, delta bool) (restarted bool)
}

func newTable[K comparable, V any](a *Account, compare func(a, b K) int, reduce func(K) K, next func(*V, bool) bool) table[K, V] {
	return table[K, V]{
		account: a, series: make(map[K]*Series[K, V]), overflow: make(map[K]*Series[K, V]), compare: compare, reduce: reduce, next: next,
	}
}

// none reduces a key that has no dimension with few values.
func none[K any](K) (zero K) { return zero }

// get returns the series of a combination, creating it within the limits, or the overflow series. It marks the series as changed.
func (t *table[K, V]) get(k K) *Series[K, V] {
	s := t.last
	if s == nil || s.Key != k || s.Overflow {
		if s = t.series[k]; s == nil {
			s = t.add(k)
		}
		t.last = s
	}
	s.dirty = true
	return s
}

func (t *table[K, V]) add(k K) *Series[K, V] {
	a := t.account
	if len(t.series) < a.cfg.MaxSeries && a.cfg.Budget.Take() {
		s := &Series[K, V]{Key: k, Lifetime: Lifetime{Start: a.flushed}, cost: 1}
		t.series[k] = s
		return s
	}
	return t.spill(k)
}

// spill returns the overflow series for a combination.
func (t *table[K, V]) spill(k K) *Series[K, V] {
	k = t.reduce(k)
	s := t.overflow[k]
	if s == nil {
		s = &Series[K, V]{Key: k, Lifetime: Lifetime{Start: t.account.flushed, Overflow: true}}
		t.overflow[k] = s
	}
	s.dirty = true
	return s
}

// all returns the series in the order of their keys, overflow last.
func (t *table[K, V]) all() []*Series[K, V] {
	out := make([]*Series[K, V], 0, len(t.series)+len(t.overflow))
	for _, list := range []map[K]*Series[K, V]{t.series, t.overflow} {
		first := len(out)
		for _, s := range list {
			out = append(out, s)
		}
		slices.SortFunc(out[first:], func(a, b *Series[K, V]) int { return t.compare(a.Key, b.Key) })
	}
	return out
}

// flush updates the time of the last change, and marks series without a change for cfg.Expiry as expired.
func (t *table[K, V]) flush(now time.Time) {
	for _, s := range t.series {
		switch {
		case s.dirty:
			s.Touched = now
		case now.Sub(s.Touched) >= t.account.cfg.Expiry:
			s.Expired = true
		}
	}
}

// flushed begins the next interval and removes expired series. With delta, it also removes unchanged sums.
func (t *table[K, V]) flushed(delta bool) {
	for k, s := range t.series {
		if s.Expired || delta && t.next != nil && !s.dirty {
			delete(t.series, k)
			t.account.cfg.Budget.Give(s.cost)
			if t.last == s {
				t.last = nil
			}
			continue
		}
		t.begin(s, delta)
	}
	for _, s := range t.overflow { // kept: there are few
		t.begin(s, delta)
	}
}

func (t *table[K, V]) begin(s *Series[K, V], delta bool) {
	s.dirty = false
	if t.next != nil && t.next(&s.Value, delta) {
		s.Start = t.account.flushed
	}
}

// zero sets all values to zero.
func (t *table[K, V]) zero() { t.each(func(v *V) { *v = *new(V) }) }

// each calls do with all values, in no particular order.
func (t *table[K, V]) each(do func(*V)) {
	for _, list := range []map[K]*Series[K, V]{t.series, t.overflow} {
		for _, s := range list {
			do(&s.Value)
		}
	}
}

// release returns the budget that the series used.
func (t *table[K, V]) release() {
	for _, s := range t.series {
		t.account.cfg.Budget.Give(s.cost)
	}
	t.series, t.last = make(map[K]*Series[K, V]), nil
}
