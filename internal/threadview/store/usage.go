// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"slices"
	"sort"
	"unsafe"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// usage is what a thread used before a reading of its clocks.
type usage struct {
	jvmthread.Usage

	thread uint32
}

const usageBytes = int(unsafe.Sizeof(usage{}))

func (b *Block) addUsages(thread uint32, list []jvmthread.Usage) {
	for i := range list {
		b.usages = append(b.usages, usage{list[i], thread})
	}
}

func (b *Block) sortUsages() {
	slices.SortStableFunc(b.usages, func(x, y usage) int { return cmp.Compare(x.thread, y.thread) })
}

// usagesOf returns those of a thread that end after a time.
func (b *Block) usagesOf(thread int, after jvmthread.Time) []usage {
	first := sort.Search(len(b.usages), func(i int) bool {
		u := &b.usages[i]
		return int(u.thread) > thread || int(u.thread) == thread && u.To > after
	})
	rest := b.usages[first:]
	return rest[:sort.Search(len(rest), func(i int) bool { return int(rest[i].thread) > thread })]
}

// Usages divides [from, to), in which a thread was runnable, by the readings of its clocks. The usage is nil where there is none.
func (sn *Snapshot) Usages(thread int, from, to jvmthread.Time, yield func(from, to jvmthread.Time, u *jvmthread.Usage)) {
	at := from
	for _, b := range sn.blocksFrom(from) {
		list := b.usagesOf(thread, at)
		for i := range list {
			u := &list[i].Usage
			if u.From >= to {
				break
			}
			if at < u.From {
				yield(at, u.From, nil)
			}
			next := min(to, u.To)
			yield(max(at, u.From), next, u)
			at = next
		}
		if at == to {
			return
		}
		if b.Start >= to { // a reading follows soon, if the thread continues
			break
		}
	}
	yield(at, to, nil)
}
