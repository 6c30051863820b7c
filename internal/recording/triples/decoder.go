// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package triples

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// New returns a decoder of triples. Lines are Options.Times.Unit apart (default 1 µs), or as far as "active" says.
//
// What a triple does not say and must have happened is made up, and nothing else: a started thread begins to run, a notified or interrupted
// one goes on, a sleep or a join ends before the thread does something else. Each thread waits for an object of its own, with the thread's
// number: which one it really was is not said.
func New(opts recording.Options, sink recording.Sink) recording.Decoder {
	step := jvmthread.Time(opts.Times.Unit)
	if step <= 0 {
		step = jvmthread.Time(time.Microsecond)
	}
	d := &decoder{
		Batcher: recording.NewBatcher(opts, sink, recording.Session{Old: true}), step: step, threads: make(map[uint64]*thread),
		strange: make(map[string]struct{}),
	}
	d.text = recording.NewLines(d.Batcher, d.line, d.finish)
	return d.text
}

type decoder struct {
	*recording.Batcher

	text    *recording.Text
	step    jvmthread.Time
	now     jvmthread.Time // of the last line
	threads map[uint64]*thread
	strange map[string]struct{}
}

const maxStrange = 16

// thread is what is known of a thread.
type thread struct {
	pending jvmthread.Kind // the event by which it is active again, whose time shows only when it does something; KindNone: it is active
	since   jvmthread.Time // the cause of that
	flags   jvmthread.Flags
	peer    jvmthread.ThreadID
	stopped jvmthread.Kind // the event that ends what it is in: a wait, a sleep, a join
	active  jvmthread.Time // since when it is active, by the count of the format: a sleep or a join does not end that
}

func (d *decoder) line(line []byte) {
	for len(bytes.TrimSpace(line)) > 0 {
		t, rest, wrong := parse(line)
		if wrong != "" {
			d.bad(1, wrong, "a line is: Thread-<number>, <operation>, Thread-<number>, or the same with: , active <n> ms")
			return
		}
		if op := find(t.operation); op != nil {
			d.act(op, &t)
		} else {
			d.unknown(t.operation)
		}
		line = rest
	}
}

// act makes events of a triple.
func (d *decoder) act(op *operation, t *triple) {
	from, to := d.find(t.from), d.find(t.to)
	me, other := jvmthread.ThreadID(t.from.id), jvmthread.ThreadID(t.to.id)
	at := d.begins(from, me, t.active)
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
			to.goOn(at, 0)
		}
	case jvmthread.KindInterruptCalled:
		if to.stopped != jvmthread.KindNone {
			to.goOn(at, jvmthread.FlagInterrupted)
		}
	}
	d.add(ev)
	d.now = at
}

// goOn notes that what the thread is in is over.
func (th *thread) goOn(at jvmthread.Time, flags jvmthread.Flags) {
	if th.pending != jvmthread.KindNone {
		return
	}
	th.pending, th.since, th.flags = th.stopped, at, flags
	th.stopped = jvmthread.KindNone
}

// begins makes the events by which a thread got to where it does something, and returns when it does.
func (d *decoder) begins(th *thread, id jvmthread.ThreadID, active time.Duration) jvmthread.Time {
	if th.pending == jvmthread.KindNone && th.stopped != jvmthread.KindNone { // it went on by itself
		th.goOn(d.now, 0)
	}
	at := d.now + d.step
	switch th.pending {
	case jvmthread.KindNone:
		return max(at, th.active+jvmthread.Time(active))
	case jvmthread.KindThreadStart, jvmthread.KindWaitReturned:
	default:
		d.resume(th, id, at)
		return max(at+d.step, th.active+jvmthread.Time(active))
	}
	at += d.step
	th.active = at - d.step
	if active >= 0 {
		at = max(at, th.since+d.step+jvmthread.Time(active))
		th.active = at - jvmthread.Time(active)
	}
	d.resume(th, id, th.active)
	return at
}

// resume makes the event by which a thread is active again.
func (d *decoder) resume(th *thread, id jvmthread.ThreadID, at jvmthread.Time) {
	ev := jvmthread.Event{Kind: th.pending, Time: max(at, th.since+1), Thread: id, Flags: th.flags}
	switch th.pending {
	case jvmthread.KindWaitReturned:
		ev.Lock = object(id)
	case jvmthread.KindJoinEnd:
		ev.Lock, ev.Peer = object(th.peer), th.peer
	}
	th.pending, th.flags = jvmthread.KindNone, 0
	if !d.Add(ev) { // so long ago that it is handed on already
		ev.Time = d.now
		d.add(ev)
	}
}

func (d *decoder) add(ev jvmthread.Event) {
	if !d.Add(ev) {
		d.Problem(d.Late(d.text.Position()))
	}
}

// object is what a thread waits for.
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
		d.Thread(jvmthread.Thread{ID: jvmthread.ThreadID(n.id), Name: strings.ToValidUTF8(n.text, "\uFFFD")})
	}
	return th
}

// finish lets those go on that had reason to, in the same order each time.
func (d *decoder) finish() {
	for _, id := range slices.Sorted(maps.Keys(d.threads)) {
		if th := d.threads[id]; th.pending != jvmthread.KindNone {
			d.resume(th, jvmthread.ThreadID(id), th.since+1)
		}
	}
}

// unknown counts a triple whose operation is not known, and tells of each operation once.
func (d *decoder) unknown(operation []byte) {
	d.Skip()
	if _, again := d.strange[string(operation)]; again || len(d.strange) >= maxStrange {
		return
	}
	d.strange[string(operation)] = struct{}{}
	d.bad(0, fmt.Sprintf("the operation %.40q is not known; it is left out, here and later", operation), "")
}

func (d *decoder) bad(lost uint64, what, remedy string) {
	p := d.text.Position()
	p.What, p.Remedy, p.Lost = what, remedy, lost
	d.Problem(p)
}
