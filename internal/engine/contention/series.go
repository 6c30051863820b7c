// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention

import (
	"slices"
	"sync/atomic"
	"time"
)

// Budget bounds the series of all sessions together: each entry of a table and each histogram takes one. It may be shared.
type Budget struct {
	Limit int64
	used  atomic.Int64
}

func (b *Budget) take() bool {
	if b.used.Add(1) > b.Limit {
		b.used.Add(-1)
		return false
	}
	return true
}

func (b *Budget) give(n int) { b.used.Add(int64(-n)) }

// Used is how many there are.
func (b *Budget) Used() int64 { return b.used.Load() }

// Series is what is summed up for one combination of attributes.
type Series[K comparable, V any] struct {
	Key      K
	Value    V
	Start    time.Time // nothing of it happened before
	Touched  time.Time // of the last flush before which something happened
	Overflow bool      // it stands for all combinations over the limit; Key has only what is bounded by itself
	Expired  bool      // nothing happened for so long that it is told for the last time
	dirty    bool      // something happened since the last flush
	cost     int       // of the budget
}

// Changed reports whether anything happened since the last flush.
func (s *Series[K, V]) Changed() bool { return s.dirty }

// table is the series of one kind.
type table[K comparable, V any] struct {
	account  *Account
	series   map[K]*Series[K, V]
	overflow map[K]*Series[K, V] // by what is left of the key
	reduce   func(K) K           // leaves of a key what is bounded by itself
	last     *Series[K, V]       // that was asked for: intervals of one lock come in a row
}

func newTable[K comparable, V any](a *Account, reduce func(K) K) table[K, V] {
	return table[K, V]{account: a, series: make(map[K]*Series[K, V]), overflow: make(map[K]*Series[K, V]), reduce: reduce}
}

// get returns the series of a combination, a new one if there is room, or else the one for all that are over the limit; and notes that something happened.
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
	if len(t.series) < a.cfg.MaxSeries && a.cfg.Budget.take() {
		s := &Series[K, V]{Key: k, Start: a.flushed, cost: 1}
		t.series[k] = s
		return s
	}
	return t.spill(k)
}

// spill is the series for what is over a limit.
func (t *table[K, V]) spill(k K) *Series[K, V] {
	k = t.reduce(k)
	s := t.overflow[k]
	if s == nil {
		s = &Series[K, V]{Key: k, Start: t.account.flushed, Overflow: true}
		t.overflow[k] = s
	}
	s.dirty = true
	return s
}

// all returns the series in the order of their keys, the overflow last.
func (t *table[K, V]) all(compare func(a, b K) int) []*Series[K, V] {
	out := make([]*Series[K, V], 0, len(t.series)+len(t.overflow))
	for _, list := range []map[K]*Series[K, V]{t.series, t.overflow} {
		first := len(out)
		for _, s := range list {
			out = append(out, s)
		}
		slices.SortFunc(out[first:], func(a, b *Series[K, V]) int { return compare(a.Key, b.Key) })
	}
	return out
}

// flush notes which series something happened to, and marks those to which nothing did for long.
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

// flushed begins the next interval: what has expired leaves. With delta, everything begins anew, and what did not change leaves at once. The
// function that is given readies a value for the next interval, and reports whether that began anew.
func (t *table[K, V]) flushed(delta bool, next func(v *V, delta bool) (anew bool)) {
	for k, s := range t.series {
		if s.Expired || delta && !s.dirty {
			delete(t.series, k)
			t.account.cfg.Budget.give(s.cost)
			if t.last == s {
				t.last = nil
			}
			continue
		}
		t.begin(s, delta, next)
	}
	for _, s := range t.overflow { // these stay: there are few
		t.begin(s, delta, next)
	}
}

func (t *table[K, V]) begin(s *Series[K, V], delta bool, next func(v *V, delta bool) (anew bool)) {
	s.dirty = false
	if next(&s.Value, delta) {
		s.Start = t.account.flushed
	}
}

// release gives back what the series took of the budget.
func (t *table[K, V]) release() {
	for _, s := range t.series {
		t.account.cfg.Budget.give(s.cost)
	}
	t.series, t.last = make(map[K]*Series[K, V]), nil
}
