// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import "github.com/weft-otel/weft/internal/jvmthread"

// sortKey is the key of a record, by start and end, or of an event, by time and thread.
type sortKey struct {
	time   jvmthread.Time
	second int64 // end or thread; ids of Java threads are positive
	index  int32 // of the record
	side   side
}

// before reports whether a key is less than another. Equal keys stay in their order.
func (k *sortKey) before(other *sortKey) bool {
	return k.time < other.time || k.time == other.time && k.second < other.second
}

// merge sorts keys, with scratch space of the same length. The result is in one of the two. The records of a thread follow each other, and so
// do its events; both are mostly in order. So it merges neighboring runs until one is left.
func (s *splitter) merge(keys, spare []sortKey) []sortKey {
	s.runs = s.runs[:0]
	for i := range keys {
		if i == 0 || keys[i].before(&keys[i-1]) {
			s.runs = append(s.runs, i)
		}
	}
	for len(s.runs) > 1 {
		runs := s.runs[:0]
		for i := 0; i < len(s.runs); i += 2 {
			first, second, end := s.runs[i], len(keys), len(keys)
			if i+1 < len(s.runs) {
				second = s.runs[i+1]
			}
			if i+2 < len(s.runs) {
				end = s.runs[i+2]
			}
			mergeKeys(spare[first:end], keys[first:second], keys[second:end])
			runs = append(runs, first)
		}
		s.runs, keys, spare = runs, spare, keys
	}
	return keys
}

// mergeKeys merges two sorted lists; of equal keys, those of a come first.
func mergeKeys(out, a, b []sortKey) {
	if len(a) > 0 && len(b) > 0 && b[len(b)-1].before(&a[0]) { // buffers of a thread that were written in the wrong order
		a, b = b, a
	}
	n := 0
	for len(a) > 0 && len(b) > 0 && b[0].before(&a[len(a)-1]) {
		if b[0].before(&a[0]) {
			out[n], b = b[0], b[1:]
		} else {
			out[n], a = a[0], a[1:]
		}
		n++
	}
	n += copy(out[n:], a)
	copy(out[n:], b)
}
