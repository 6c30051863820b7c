// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package interaction

import "github.com/weft-otel/weft/internal/jvmthread"

// Some pools let threads wait in Object.wait until another one notifies the pool. Who owns their monitor holds no object of the pool: it has an
// object if its wait was notified and it does not wait again at once. It gives the object back where its stack says so, to the pool or to a
// helper that notifies the pool later.

// pool is a lock in whose wait set threads wait for objects of a pool, or in which they give them to helpers.
type pool struct {
	is     bool           // threads wait for its objects
	wanted jvmthread.Time // since when they do
	given  []sharer       // threads that gave an object to a helper, and when
}

// maxGiven bounds the objects that helpers have not returned yet.
const maxGiven = 256

// poolWait records that a thread waits for an object: it has none, whatever it had. One without a task has none of any pool.
func (m *monitors) poolWait(l *lock, wait jvmthread.Wait, me *waiting, closed *jvmthread.Interval) {
	switch {
	case wait == jvmthread.WaitPool:
		s, ok := l.unshare(me.thread)
		if again := ok && s.since == closed.Start; !l.pool.is || len(l.waiters) == 1 && !again {
			l.pool.wanted = closed.End
		}
		l.pool.is = true
	case wait.Idle():
		me.dropShares()
		me.began = closed.End
	}
}

// gives records that a thread gave back an object of a pool, by a notify of the pool or of a helper.
func (m *monitors) gives(l *lock, me *waiting, at jvmthread.Time) {
	if l.pool.is {
		m.owners.endShare(l, me, at, l.pool.wanted)
		return
	}
	for _, p := range me.shares {
		if p.pool.is {
			m.owners.endShare(p, me, at, at)
			return
		}
	}
	if len(l.pool.given) < maxGiven {
		l.pool.given = append(l.pool.given, sharer{thread: me.thread, since: at})
	}
}

// notifiedPool records that a helper notified a pool, perhaps to return the object that it was given first. No event showed that the thread that
// gave it had got it: otherwise its hold would have ended then.
func (m *monitors) notifiedPool(l *lock, me *waiting) {
	home := m.owners.find(me.home)
	if home == nil || home == l || len(home.pool.given) == 0 {
		return
	}
	by := home.pool.given[0]
	home.pool.given = home.pool.given[1:]
	if th := m.timeline.Thread(by.thread); th != nil && len(l.waiters) > 0 {
		m.owners.endShare(l, m.waits.of(th), by.since, l.pool.wanted)
	}
}
