// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package spantest

import (
	"maps"
	"slices"
)

// Contended reports whether the span is a wait for what other threads hold.
func (s *Span) Contended() bool { return IsContended(s.Text("weft.wait.kind")) }

// IsContended reports whether waits of a kind are for what other threads hold.
func IsContended(kind string) bool { return slices.Contains([]string{"lock", "permit", "pool"}, kind) }

// Waits are waits of a program, and the time in them by attribute.
type Waits struct {
	Time  int64
	Spans []*Span
}

// WaitsWhere returns the spans of a service that meet a condition.
func WaitsWhere(o *Output, service string, is func(s *Span) bool) (w Waits) {
	w.Spans = o.Of(service, is)
	for _, s := range w.Spans {
		w.Time += s.Number("weft.interval.time")
	}
	return w
}

// Values returns the values of an attribute, in order.
func (w Waits) Values(name string) []string {
	return slices.Sorted(maps.Keys(w.Times(name)))
}

// Most returns the value of an attribute with most of the time, or an empty string without waits.
func (w Waits) Most(name string) string {
	if len(w.Spans) == 0 {
		return ""
	}
	times := w.Times(name)
	return slices.MaxFunc(w.Values(name), func(a, b string) int { return int(times[a] - times[b]) })
}

// Times returns the time of the waits by value of an attribute.
func (w Waits) Times(name string) map[string]int64 {
	times := map[string]int64{}
	for _, s := range w.Spans {
		times[s.Text(name)] += s.Number("weft.interval.time")
	}
	return times
}
