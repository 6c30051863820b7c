// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package dump

import (
	"cmp"
	"reflect"
	"slices"
)

// history is the dumps of one JVM.
type history struct {
	dumps []*dump
	keys  map[key]uint64 // the native address of each thread of the last dump
}

// isOf reports whether a dump is of the JVM of the history: the process is the same, unless threads differ as in containers, where each has the number 1,
// or the threads are if the process is not known.
func (h *history) isOf(d *dump) bool {
	last := h.dumps[len(h.dumps)-1]
	switch {
	case d.jvm != "" && last.jvm != "" && jvmOf(d.jvm).version != jvmOf(last.jvm).version:
		return false
	case d.pid != 0 && last.pid != 0 && d.pid != last.pid:
		return false
	}
	same, different, others := 0, 0, 0
	for i := range d.threads {
		t := &d.threads[i]
		native, ok := h.keys[key{id: t.id, name: t.name}]
		switch {
		case !ok && t.native == 0:
			others++
		case !ok:
		case native == t.native:
			same++
		case native != 0 && t.native != 0:
			different++
		}
	}
	if d.pid != 0 && d.pid == last.pid {
		return same >= different
	}
	// JVMs whose dumps have no addresses have threads in common, such as the finalizer, but each of them also has others.
	return same > different+min(others, len(h.keys)-same-different)
}

func (h *history) add(d *dump) {
	h.dumps = append(h.dumps, d)
	h.keys = make(map[key]uint64, len(d.threads))
	for i := range d.threads {
		t := &d.threads[i]
		h.keys[key{id: t.id, name: t.name}] = t.native
	}
}

// maxJVMs bounds the JVMs whose dumps may be mixed.
const maxJVMs = 64

// histories divides dumps by JVM, each in the order of time.
func histories(dumps []*dump) (all []*history) {
	for _, d := range dumps {
		recent := all[max(0, len(all)-maxJVMs):]
		i := slices.IndexFunc(recent, func(h *history) bool { return h.isOf(d) })
		if i < 0 {
			all = append(all, &history{})
			recent, i = all, len(all)-1
		}
		recent[i].add(d)
	}
	for _, h := range all {
		if !slices.ContainsFunc(h.dumps, func(d *dump) bool { return d.at == 0 }) {
			slices.SortStableFunc(h.dumps, func(a, b *dump) int { return cmp.Compare(a.at, b.at) })
			h.dumps = slices.CompactFunc(h.dumps, func(a, b *dump) bool { return a.at == b.at && reflect.DeepEqual(a, b) }) // a copy of a file
		}
	}
	return all
}
