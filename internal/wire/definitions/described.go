// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package definitions

import "github.com/weft-otel/weft/internal/jvmthread"

const (
	pageIDs  = 64      // IDs of a page
	maxPages = 1 << 14 // JVMs number threads from 1; IDs beyond these pages are of long runs with many virtual threads
)

// described records when the descriptions of threads were last sent downstream. Each thread of each batch and each peer of an event is
// looked up, which is slow in a map of thousands of threads.
type described struct {
	pages []*page // by ID; nil: no thread was described
	held  int     // pages that are not nil
	other map[jvmthread.ThreadID]jvmthread.Time
	most  int // entries of other since it was made: a map never shrinks
}

type page struct {
	times [pageIDs]jvmthread.Time // 0: not described
	used  int                     // times that are not 0
}

// at returns when a thread was described, or 0.
func (d *described) at(id jvmthread.ThreadID) jvmthread.Time {
	if id < pageIDs*maxPages {
		if n := int(id / pageIDs); n < len(d.pages) && d.pages[n] != nil {
			return d.pages[n].times[id%pageIDs]
		}
		return 0
	}
	return d.other[id]
}

// set records when a thread was described; 0 forgets it.
func (d *described) set(id jvmthread.ThreadID, at jvmthread.Time) {
	switch {
	case id < pageIDs*maxPages:
		d.setPaged(int(id/pageIDs), int(id%pageIDs), at)
	case at == 0:
		delete(d.other, id)
		if len(d.other) == 0 {
			d.other, d.most = nil, 0
		}
	default:
		if d.other == nil {
			d.other = make(map[jvmthread.ThreadID]jvmthread.Time)
		}
		d.other[id] = at
		d.most = max(d.most, len(d.other))
	}
}

// need returns how many bytes set may add at most.
func (d *described) need(id jvmthread.ThreadID) int {
	if id >= pageIDs*maxPages {
		return perOther
	}
	number := int(id / pageIDs)
	switch {
	case number >= cap(d.pages):
		return perPage + perPointer*growth(d.pages, number+1)
	case number >= len(d.pages) || d.pages[number] == nil:
		return perPage
	}
	return 0
}

func (d *described) setPaged(number, index int, at jvmthread.Time) {
	if n := number + 1 - len(d.pages); n > 0 {
		if at == 0 {
			return
		}
		d.pages = grow(d.pages, number+1)
	}
	p := d.pages[number]
	if p == nil {
		if at == 0 {
			return
		}
		p = new(page)
		d.pages[number] = p
		d.held++
	}
	if p.times[index] != 0 {
		p.used--
	}
	if at != 0 {
		p.used++
	}
	p.times[index] = at
	if p.used == 0 {
		d.pages[number] = nil
		d.held--
	}
	for n := len(d.pages); n > 0 && d.pages[n-1] == nil; n-- {
		d.pages = d.pages[:n-1]
	}
	if 4*len(d.pages) < cap(d.pages) {
		d.pages = append([]*page(nil), d.pages...)
	}
}

// clear forgets all threads.
func (d *described) clear() { *d = described{} }

// Sizes in bytes, with the overhead of maps and of the allocator.
const (
	perPage    = 576
	perPointer = 8
	perOther   = 32
)

// size estimates the memory in bytes.
func (d *described) size() int {
	return perPage*d.held + perPointer*cap(d.pages) + perOther*d.most
}
