// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package triples

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// New returns a decoder of triples. Lines are Options.Times.Unit apart (default 1 µs), or further if a line states "active".
//
// The decoder adds the events that must have happened between the lines, and no others: a started thread starts to run, a notified or
// interrupted one resumes, a sleep or a join ends before the thread acts again. The object of a wait is unknown: each thread gets one of its
// own, with the thread's number.
func New(options recording.Options, sink recording.Sink) recording.Decoder {
	step := jvmthread.Time(options.Times.Unit)
	if step <= 0 {
		step = jvmthread.Time(time.Microsecond)
	}
	d := &decoder{step: step, threads: make(map[uint64]*thread)}
	d.Text = recording.NewLines(recording.NewBatcher(options, sink, recording.Session{SingleEnded: true}), d.line, d.finish)
	return d
}

type decoder struct {
	*recording.Text

	step    jvmthread.Time
	now     jvmthread.Time // of the last line
	threads map[uint64]*thread
}

// thread is the state of a thread.
type thread struct {
	pending jvmthread.Kind // the event by which it resumes, whose time is known only when it acts; KindNone: it is active
	since   jvmthread.Time // time of the cause of pending
	flags   jvmthread.Flags
	peer    jvmthread.ThreadID
	stopped jvmthread.Kind // the event that will end its wait, sleep or join
	active  jvmthread.Time // when it became active as the format counts: a sleep or a join does not interrupt activity
}

func (d *decoder) line(line []byte) {
	for len(bytes.TrimSpace(line)) > 0 {
		t, rest, wrong := parse(line)
		if wrong != "" {
			d.Report(1, wrong, "want Thread-<number>, <operation>, Thread-<number>, optionally followed by: , active <n> ms")
			return
		}
		if op := find(t.operation); op != nil {
			d.act(op, &t)
		} else {
			d.Unknown("operation", t.operation)
		}
		line = rest
	}
}

// act adds the events of a triple.
func (d *decoder) act(op *operation, t *triple) {
	from, to := d.find(t.from), d.find(t.to)
	me, other := jvmthread.ThreadID(t.from.id), jvmthread.ThreadID(t.to.id)
	at := d.activate(from, me, t.active)
	ev := jvmthread.Event{Kind: op.kind, Time: at, Thread: me}
	if !op.self {
		ev.Peer = other
	}
	switch op.kind {
	case jvmthread.KindStartCalled:
		*to = thread{pending: jvmthread.KindThreadStart, since: at}
	case jvmthread.KindWait:
		ev.Lock = object(me)
		from.stopped = jvmthread.KindWaitReturned
	case jvmthread.KindSleepStart:
		from.stopped = jvmthread.KindSleepEnd
	case jvmthread.KindJoinStart:
		ev.Lock = object(other)
		from.stopped, from.peer = jvmthread.KindJoinEnd, other
	case jvmthread.KindNotify, jvmthread.KindNotifyAll:
		ev.Peer = jvmthread.NoThread
		ev.Lock = object(other)
		if to.stopped == jvmthread.KindWaitReturned {
			to.resume(at, 0)
		}
	case jvmthread.KindInterruptCalled:
		if to.stopped != jvmthread.KindNone {
			to.resume(at, jvmthread.FlagInterrupted)
		}
	}
	d.Event(&ev)
	d.now = at
}

// resume notes that the wait, sleep or join of the thread is over.
func (th *thread) resume(at jvmthread.Time, flags jvmthread.Flags) {
	if th.pending != jvmthread.KindNone {
		return
	}
	th.pending, th.since, th.flags = th.stopped, at, flags
	th.stopped = jvmthread.KindNone
}

// activate adds the events by which a thread became active, and returns when it acts.
func (d *decoder) activate(th *thread, id jvmthread.ThreadID, active time.Duration) jvmthread.Time {
	if th.pending == jvmthread.KindNone && th.stopped != jvmthread.KindNone { // it resumed by itself
		th.resume(d.now, 0)
	}
	at := d.now + d.step
	switch th.pending {
	case jvmthread.KindNone:
		return max(at, th.active+jvmthread.Time(active))
	case jvmthread.KindThreadStart, jvmthread.KindWaitReturned:
	default:
		d.addPending(th, id, at)
		return max(at+d.step, th.active+jvmthread.Time(active))
	}
	at += d.step
	th.active = at - d.step
	if active >= 0 {
		at = max(at, th.since+d.step+jvmthread.Time(active))
		th.active = at - jvmthread.Time(active)
	}
	d.addPending(th, id, th.active)
	return at
}

// addPending adds the event by which a thread resumes.
func (d *decoder) addPending(th *thread, id jvmthread.ThreadID, at jvmthread.Time) {
	ev := jvmthread.Event{Kind: th.pending, Time: max(at, th.since+1), Thread: id, Flags: th.flags}
	switch th.pending {
	case jvmthread.KindWaitReturned:
		ev.Lock = object(id)
	case jvmthread.KindJoinEnd:
		ev.Lock, ev.Peer = object(th.peer), th.peer
	}
	th.pending, th.flags = jvmthread.KindNone, 0
	if !d.Add(&ev) { // its place has been passed on already
		ev.Time = d.now
		d.Event(&ev)
	}
}

// object returns the object that a thread waits for.
func object(id jvmthread.ThreadID) jvmthread.LockID {
	return jvmthread.LockID{Hash: uint32(id) ^ uint32(id>>32)}
}

func (d *decoder) find(n name) *thread {
	th := d.threads[n.id]
	if th != nil {
		return th
	}
	if len(d.threads) >= recording.MaxThreads {
		clear(d.threads)
	}
	th = &thread{}
	d.threads[n.id] = th
	if n.text != "" {
		d.Thread(jvmthread.Thread{ID: jvmthread.ThreadID(n.id), Name: recording.Valid([]byte(n.text))})
	}
	return th
}

// finish resumes the threads that something has woken, in a fixed order.
func (d *decoder) finish() {
	for _, id := range slices.Sorted(maps.Keys(d.threads)) {
		if th := d.threads[id]; th.pending != jvmthread.KindNone {
			d.addPending(th, jvmthread.ThreadID(id), th.since+1)
		}
	}
}
