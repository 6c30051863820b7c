// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"math"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// lasts knows until when the threads of a session are known to have run. An event is written when it ends, so a thread may have begun to wait
// after its last event, without a trace in the recording.
type lasts map[jvmthread.ThreadID]last

type last struct {
	own   jvmthread.Time // end of the thread's last event
	heard jvmthread.Time // when an event of another thread last showed that it ran
}

// see learns from a record.
func (l lasts) see(r *record) {
	id := r.event.Thread
	if r.event.Kind == jvmthread.KindThreadEnd {
		delete(l, id) // nothing can follow
		return
	}
	th := l.of(id)
	th.own = max(th.own, r.end)
	l.set(id, th)
	by, at := r.from, r.end
	if r.kind == kindStart {
		by, at = r.event.Peer, r.event.Time
	}
	if by != jvmthread.NoThread {
		th = l.of(by)
		th.heard = max(th.heard, at)
		l.set(by, th)
	}
}

func (l lasts) of(id jvmthread.ThreadID) last {
	if th, ok := l[id]; ok {
		return th
	}
	return last{math.MinInt64, math.MinInt64}
}

// set stores a thread, within the limit.
func (l lasts) set(id jvmthread.ThreadID, th last) {
	if _, ok := l[id]; ok || len(l) < recording.MaxThreads {
		l[id] = th
	}
}

// silence returns the time from which on nothing is known about a thread whose events so far ended at the given time. It returns false if
// more events follow.
func (l lasts) silence(id jvmthread.ThreadID, until jvmthread.Time) (from jvmthread.Time, ok bool) {
	th, ok := l[id]
	if !ok || th.own == math.MinInt64 || until < th.own {
		return 0, false
	}
	delete(l, id)
	return max(until, th.heard), true
}

// scanLasts reads when the threads of a chunk were last heard of.
func (d *Decoder) scanLasts(c *chunk, l lasts) error {
	n := d.names(c)
	n.brief = true
	all := func(jvmthread.Time) bool { return true }
	_, err := c.read(n, &d.session.clock, c.at+headerSize, c.until, d.buf, all, l.see)
	return err
}
