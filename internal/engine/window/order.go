// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/weft-otel/weft/internal/engine/recent"
	"github.com/weft-otel/weft/internal/engine/timeline"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// showSources adds a lane for each thread that released another, even if it has no interval in the window.
func (b *Builder) showSources(tl *timeline.Timeline) {
	for _, l := range b.lanes {
		if l == nil {
			continue
		}
		for i := range l.causes {
			if c := &l.causes[i]; c.time >= b.window.Start {
				if th := tl.Thread(c.thread); th != nil {
					b.lane(th)
				}
			}
		}
	}
}

// showHolders adds a lane for each thread that holds a lock on which others are blocked, and for each thread that such a thread waits for.
// A thread that holds a lock and sleeps through a whole window has no event in it, but is the cause of the contention.
func (b *Builder) showHolders(tl *timeline.Timeline, at jvmthread.Time) {
	var next []jvmthread.ThreadID
	for i := range b.holds {
		if h := &b.holds[i]; h.End == at && h.Marks&jvmthread.HoldOpen != 0 && h.Marks&jvmthread.HoldInferred == 0 {
			next = append(next, h.Thread)
		}
	}
	for len(next) > 0 {
		th := tl.Thread(next[len(next)-1])
		next = next[:len(next)-1]
		if th == nil || b.has(th) {
			continue
		}
		b.lane(th)
		if open := th.Open(); open.Peer != jvmthread.NoThread {
			next = append(next, open.Peer) // the thread it joins, or the owner of the lock it waits for
		}
	}
}

// recycle keeps the lanes for the same threads in the next window, with the capacity that they needed. Lanes that were kept and not needed are
// dropped, so a session needs as much memory as its last window did.
func (b *Builder) recycle() {
	clear(b.spare)
	b.lanes, b.spare = b.spare[:0], b.lanes
	b.bytes, b.kept = 0, 0
	for _, l := range b.spare {
		if l == nil {
			continue
		}
		l.Intervals.Reset()
		l.causes, l.details, l.Usages = reuse(l.causes), reuse(l.details), reuse(l.Usages)
		l.pinned, l.keep, l.sums = nil, nil, nil
		b.bytes += perInterval*l.Intervals.Cap() + perCause*cap(l.causes) + perDetail*cap(l.details) + perUsage*cap(l.Usages)
		b.kept++
	}
}

// The bytes of what lanes consist of.
const (
	perInterval = jvmthread.IntervalSize
	perCause    = int(unsafe.Sizeof(cause{}))
	perDetail   = int(unsafe.Sizeof(detail{}))
	perUsage    = int(unsafe.Sizeof(jvmthread.Usage{}))
)

// reuse empties a list, and drops its memory if most of it was not used.
func reuse[T any](list []T) []T {
	if len(list) < cap(list)/2 && cap(list) > 64 {
		return nil
	}
	return list[:0]
}

// lockOrder sorts holds by lock. The holds of one lock arrive in time order, so a counting sort is sufficient.
type lockOrder struct {
	index  map[jvmthread.LockID]int32            // index in locks
	recent recent.Cache[jvmthread.LockID, int32] // the same, plus one
	locks  []heldLock
	sorted []int32 // indices in locks, by lock id
	lockOf []int32 // by hold: the index of its lock
}

type heldLock struct {
	id    jvmthread.LockID
	holds int
	next  int // position of its next hold
}

// held estimates the bytes in use.
func (o *lockOrder) held() int {
	const perLock = 64
	return perLock*cap(o.locks) + 4*(cap(o.sorted)+cap(o.lockOf))
}

// find returns the index of a lock, adding it if necessary.
func (o *lockOrder) find(id jvmthread.LockID) int32 {
	at, ok := o.index[id]
	if !ok {
		at = int32(len(o.locks))
		o.index[id] = at
		o.locks, o.sorted = append(o.locks, heldLock{id: id}), append(o.sorted, at)
	}
	o.recent.Put(id.Hash, id, at+1)
	return at
}

func (b *Builder) sortHolds() {
	o, w := &b.order, &b.window
	clear(o.index)
	o.recent.Clear()
	o.locks, o.sorted, o.lockOf = o.locks[:0], o.sorted[:0], o.lockOf[:0]
	for i := range b.holds {
		id := b.holds[i].Lock
		at := o.recent.Get(id.Hash, id) - 1
		if at < 0 {
			at = o.find(id)
		}
		o.locks[at].holds++
		o.lockOf = append(o.lockOf, at)
	}
	slices.SortFunc(o.sorted, func(x, y int32) int {
		a, b := o.locks[x].id, o.locks[y].id
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Hash, b.Hash))
	})
	next := 0
	for _, at := range o.sorted {
		o.locks[at].next = next
		next += o.locks[at].holds
	}
	w.Holds = slices.Grow(w.Holds[:0], len(b.holds))[:len(b.holds)]
	for i := range b.holds {
		l := &o.locks[o.lockOf[i]]
		w.Holds[l.next] = b.holds[i]
		l.next++
		if h := &b.holds[i]; h.Marks&jvmthread.HoldShared != 0 {
			w.longestShare = max(w.longestShare, h.End-h.Start)
		}
	}
}
