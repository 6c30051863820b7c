// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// sharer is a thread that holds one of several permits or objects of a pool.
type sharer struct {
	thread jvmthread.ThreadID
	since  jvmthread.Time // if unsure, when the next thread began to wait
	unsure bool           // for a time no thread waited, so it may have returned what it held unseen
}

// maxSharers bounds the sharers of one lock; the oldest ones are forgotten.
const maxSharers = 256

// maxShares bounds the locks of which one thread is remembered as a sharer, in the same way.
const maxShares = 8

// dropShares forgets which permits and objects a thread holds.
func (me *waiting) dropShares() {
	for _, l := range me.shares {
		l.unshare(me.thread)
	}
	me.shares = me.shares[:0]
}

// share records that a thread got a permit or an object.
func (me *waiting) share(l *lock, at jvmthread.Time) {
	l.unshare(me.thread)
	if len(l.sharers) == maxSharers {
		l.sharers = slices.Delete(l.sharers, 0, 1)
	}
	l.sharers = append(l.sharers, sharer{thread: me.thread, since: at})
	if slices.Contains(me.shares, l) {
		return
	}
	if len(me.shares) == maxShares {
		me.shares[0].unshare(me.thread)
		me.shares = slices.Delete(me.shares, 0, 1)
	}
	me.shares = append(me.shares, l)
}

// endShare ends the hold of the thread that returned a permit or an object. If it was not seen to get one, it has held one since the other thread
// began to wait, as far as it was not itself idle or waiting for one.
func (o *owners) endShare(l *lock, me *waiting, at, began jvmthread.Time) {
	h := jvmthread.Hold{
		Start: max(began, me.began), End: at, Lock: l.id, Thread: me.thread, Marks: jvmthread.HoldShared | jvmthread.HoldSinceBefore | jvmthread.HoldInferred,
	}
	if s, ok := l.unshare(me.thread); ok {
		h.Start = s.since
		if !s.unsure {
			h.Marks = jvmthread.HoldShared
		}
	}
	if h.End > h.Start {
		o.holds = append(o.holds, h)
	}
	me.began = at // since when it has held what it returns next is not known; holds of a thread do not overlap
}

// unshare forgets a sharer and returns it.
func (l *lock) unshare(id jvmthread.ThreadID) (s sharer, ok bool) {
	at := slices.IndexFunc(l.sharers, func(s sharer) bool { return s.thread == id })
	if at < 0 {
		return sharer{}, false
	}
	s = l.sharers[at]
	l.sharers = slices.Delete(l.sharers, at, at+1)
	return s, true
}

// shared appends the holds of the sharers so far, if they are sure: a return is seen only while a thread waits.
func (l *lock) shared(at jvmthread.Time, holds []jvmthread.Hold) []jvmthread.Hold {
	if l.blocked.Now == 0 && !l.pool.is {
		at = min(at, l.empty)
	}
	for _, s := range l.sharers {
		if at > s.since && !s.unsure {
			holds = append(holds, jvmthread.Hold{
				Start: s.since, End: at, Lock: l.id, Thread: s.thread, Marks: jvmthread.HoldShared | jvmthread.HoldOpen | jvmthread.HoldSoFar,
			})
		}
	}
	return holds
}
