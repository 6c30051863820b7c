// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"maps"
	"math"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// lasts knows until when the threads of a session are known to have run. An event is written when it ends, so a thread may have begun to wait
// after its last event, without a trace in the recording.
type lasts struct {
	threads map[jvmthread.ThreadID]*last
	locks   map[jvmthread.ClassID]uint32 // the only object of each class that threads waited for; 0: there are several
	id      jvmthread.ThreadID           // looked up last
	th      *last                        // the same; nil: none
}

type last struct {
	own   jvmthread.Time // end of the thread's last event; ended
	got   got            // the monitor that the thread waited for last
	heard jvmthread.Time // when a sample or an event of another thread last showed that it ran
}

// got is when a thread got a monitor.
type got struct {
	lock jvmthread.LockID
	at   jvmthread.Time
}

// ended is the last event of a thread that has ended: nothing is unknown after that.
const ended = math.MaxInt64

func newLasts() *lasts {
	return &lasts{threads: make(map[jvmthread.ThreadID]*last), locks: make(map[jvmthread.ClassID]uint32)}
}

// see learns from a record.
func (l *lasts) see(r *record) {
	id := r.event.Thread
	if r.event.Kind == jvmthread.KindThreadEnd {
		// From JDK 24 on, a notification of those that join the thread is written after that.
		if th := l.of(id); th != nil {
			th.own = ended
		}
		return
	}
	if th := l.of(id); th != nil && r.kind == kindSample {
		th.heard = max(th.heard, r.event.Time)
	} else if th != nil {
		th.own = max(th.own, r.end)
		if r.kind == kindEnter && r.end > th.got.at {
			th.got = got{r.event.Lock, r.end}
		}
	}
	if lock := r.event.Lock; lock.Hash != 0 {
		if known, ok := l.locks[lock.Class]; ok && known != lock.Hash {
			lock.Hash = 0
		}
		l.locks[lock.Class] = lock.Hash
	}
	by, at := r.from, r.end
	if r.kind == kindStart {
		by, at = r.event.Peer, r.event.Time
	}
	if by != jvmthread.NoThread {
		if th := l.of(by); th != nil {
			th.heard = max(th.heard, at)
		}
	}
}

// of returns a thread, a new one if it is not known, or nil over the limit. At the limit it forgets threads that have ended.
func (l *lasts) of(id jvmthread.ThreadID) *last {
	if l.th != nil && l.id == id {
		return l.th
	}
	th := l.threads[id]
	if th == nil {
		if len(l.threads) >= recording.MaxThreads {
			maps.DeleteFunc(l.threads, func(_ jvmthread.ThreadID, th *last) bool { return th.own == ended })
			if len(l.threads) >= recording.MaxThreads {
				return nil
			}
		}
		th = &last{own: math.MinInt64, heard: math.MinInt64}
		l.threads[id] = th
	}
	l.id, l.th = id, th
	return th
}

func (l *lasts) drop(id jvmthread.ThreadID) {
	delete(l.threads, id)
	l.th = nil
}

// silence returns the time from which on nothing is known about a thread whose events so far ended at the given time. It returns false if
// more events follow.
func (l *lasts) silence(id jvmthread.ThreadID, until jvmthread.Time) (from jvmthread.Time, ok bool) {
	if l == nil {
		return 0, false
	}
	th := l.threads[id]
	if th == nil || th.own == math.MinInt64 || until < th.own {
		return 0, false
	}
	l.drop(id)
	return max(until, th.heard), true
}

// scanLasts reads when the threads of a chunk were last heard of, and where its records are.
func (d *Decoder) scanLasts(c *chunk, l *lasts) (list blocks, bad unread, err error) {
	n := d.names(c)
	n.brief, list.size = true, d.blockSize
	all := func(jvmthread.Time) bool { return true }
	bad, err = c.read(n, c.at+headerSize, c.until, d.buf, all, func(r *record, after int64) {
		l.see(r)
		list.add(r.event.Time, after)
	})
	return list, bad, err
}
