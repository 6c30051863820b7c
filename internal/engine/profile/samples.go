// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Family selects which waits a profile has, and by whose stacks.
type Family uint8

// The families.
const (
	Block  Family = iota // contended waits, by the stack that waited
	Mutex                // the same waits, by what the thread did that held the lock meanwhile
	OffCPU               // all waits, by the stack that waited
	familyEnd
)

// NumFamilies is one more than the largest family.
const NumFamilies = int(familyEnd)

var familyNames = [familyEnd]string{"block", "mutex", "off_cpu"}

// String returns the name of the family, which is the name of the profile.
func (f Family) String() string {
	if f < familyEnd {
		return familyNames[f]
	}
	return "invalid"
}

// Key is what the waits of a sample have in common.
type Key struct {
	Stack jvmthread.StackID // NoStack: not recorded, or beyond the limit
	Class jvmthread.ClassID // of the lock or object, or NoClass
	Lock  contention.Text   // the source's name of the lock
	Pool  contention.Text   // of the thread with the stack
	Wait  jvmthread.Wait
	Doing jvmthread.State // what the holder did; unknown: no holder is known, or the key is a waiter's
	Taken bool            // the stack is where the holder took the lock; it ran on from there
	Rest  bool            // all waits of the kind beyond the limit
}

func (k *Key) compare(o *Key) int {
	return cmp.Or(compareBool(k.Rest, o.Rest), cmp.Compare(k.Wait, o.Wait), cmp.Compare(k.Class, o.Class), cmp.Compare(k.Lock, o.Lock), cmp.Compare(k.Stack, o.Stack),
		cmp.Compare(k.Pool, o.Pool), cmp.Compare(k.Doing, o.Doing), compareBool(k.Taken, o.Taken))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Sum counts waits and adds up their time. Of an open wait, the time so far is added.
type Sum struct {
	Count uint64 // that began; of a holder, while it held the lock
	Time  time.Duration
}

func (s *Sum) add(o Sum) {
	s.Count += min(o.Count, math.MaxInt64-s.Count)
	if s.Time += o.Time; s.Time < 0 {
		s.Time = math.MaxInt64
	}
}

// Sample is the sum of the waits with a key, or of those of them in one request.
type Sample struct {
	Key
	Sum
	Span jvmthread.SpanContext // of the request that waited, or whose thread held the lock; zero: none, or the rest
}

// table contains the sums of one kind of stacks.
type table struct {
	cfg    *Config
	series map[Key]*series
	last   *series // consecutive waits often have the same stack
	taken  int     // units of the budget
}

type series struct {
	Key
	Sum
	linked []linked // parts of the sum
}

type linked struct {
	span jvmthread.SpanContext
	Sum
}

func newTable(cfg *Config) table { return table{cfg: cfg, series: make(map[Key]*series)} }

func (t *table) add(k *Key, sum Sum, span jvmthread.SpanContext) {
	s := t.last
	if s == nil || s.Key != *k {
		if s = t.series[*k]; s == nil {
			s = t.create(k)
		}
		t.last = s
	}
	s.add(sum)
	if !span.IsZero() && t.cfg.Links > 0 && !s.Rest {
		s.link(span, sum, t.cfg.Links)
	}
}

// create returns a new series, or that of the rest.
func (t *table) create(k *Key) *series {
	if len(t.series) < t.cfg.MaxSamples && t.cfg.Budget.Take() {
		t.taken++
		s := &series{Key: *k}
		t.series[*k] = s
		return s
	}
	rest := Key{Wait: k.Wait, Doing: k.Doing, Rest: true}
	s := t.series[rest]
	if s == nil {
		s = &series{Key: rest}
		t.series[rest] = s // there are few
	}
	return s
}

// link adds to the part of a request. The part of the request that waited least gives way to a longer one.
func (s *series) link(span jvmthread.SpanContext, sum Sum, limit int) {
	least := -1
	for i := range s.linked {
		l := &s.linked[i]
		if l.span == span {
			l.add(sum)
			return
		}
		if least < 0 || l.Time < s.linked[least].Time {
			least = i
		}
	}
	switch {
	case len(s.linked) < limit:
		s.linked = append(s.linked, linked{span, sum})
	case sum.Time > s.linked[least].Time:
		s.linked[least] = linked{span, sum}
	}
}

// Flush calls report with the samples of each family with any, in a stable order, and starts over.
func (a *Account) Flush(report func(f Family, samples []Sample)) {
	var block, off []Sample
	for _, s := range a.waiters.take() {
		if s.Wait.Contended() {
			block = append(block, s)
		}
		off = append(off, s)
	}
	for f, samples := range [familyEnd][]Sample{Block: block, Mutex: a.holders.take(), OffCPU: off} {
		if len(samples) > 0 {
			report(Family(f), samples)
		}
	}
}

// take returns all samples and removes them.
func (t *table) take() (out []Sample) {
	for _, s := range t.series {
		rest := s.Sum
		for _, l := range s.linked {
			out = append(out, Sample{s.Key, l.Sum, l.span})
			rest.Count -= l.Count
			rest.Time -= l.Time
		}
		if rest != (Sum{}) {
			out = append(out, Sample{Key: s.Key, Sum: rest})
		}
	}
	slices.SortFunc(out, func(a, b Sample) int {
		return cmp.Or(a.compare(&b.Key), bytes.Compare(a.Span.TraceID[:], b.Span.TraceID[:]), bytes.Compare(a.Span.SpanID[:], b.Span.SpanID[:]))
	})
	t.release()
	return out
}

// release removes all samples and returns the budget that they used.
func (t *table) release() {
	clear(t.series)
	t.last = nil
	t.cfg.Budget.Give(t.taken)
	t.taken = 0
}

// Release returns the budget that the account used.
func (a *Account) Release() {
	a.waiters.release()
	a.holders.release()
}
