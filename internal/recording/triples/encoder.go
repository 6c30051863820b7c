// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package triples

import (
	"slices"
	"strconv"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
)

// NewEncoder returns an encoder of triples. Whom a notify woke is found by the wait set, first in first out, as HotSpot keeps it.
func NewEncoder(recording.EncoderOptions) recording.Encoder {
	return &encoder{
		since: make(map[jvmthread.ThreadID]jvmthread.Time), waits: make(map[jvmthread.LockID][]jvmthread.ThreadID),
		object: make(map[jvmthread.ThreadID]jvmthread.LockID),
	}
}

type encoder struct {
	stats  recording.EncoderStats
	since  map[jvmthread.ThreadID]jvmthread.Time     // when a thread became active
	waits  map[jvmthread.LockID][]jvmthread.ThreadID // wait sets
	object map[jvmthread.ThreadID]jvmthread.LockID   // in whose wait set a thread is
}

// Begin appends nothing: there is no head.
func (*encoder) Begin(dst []byte, _ *recording.Session) []byte { return dst }

// End appends nothing.
func (*encoder) End(dst []byte, _ *recording.End) []byte { return dst }

// Beside returns nothing: all is in one file.
func (*encoder) Beside() (extension string, text []byte) { return "", nil }

// Stats says what was written so far.
func (e *encoder) Stats() recording.EncoderStats { return e.stats }

// Batch appends a line for each event that is a triple.
func (e *encoder) Batch(dst []byte, batch *recording.Batch) []byte {
	for i := range batch.Events {
		dst = e.append(dst, &batch.Events[i])
	}
	return dst
}

func (e *encoder) append(dst []byte, ev *jvmthread.Event) []byte {
	before := len(dst)
	switch ev.Kind {
	case jvmthread.KindThreadStart:
		e.activate(ev)
	case jvmthread.KindThreadEnd:
		delete(e.since, ev.Thread)
		e.leave(ev.Thread)
	case jvmthread.KindWaited, jvmthread.KindWaitReturned:
		e.leave(ev.Thread)
		e.activate(ev)
	case jvmthread.KindWait:
		dst = e.appendWait(dst, ev)
	case jvmthread.KindNotify, jvmthread.KindNotifyAll:
		dst = e.appendNotify(dst, ev)
	case jvmthread.KindSleepStart:
		dst = appendLine(dst, ev.Thread, "sleep", ev.Thread)
	case jvmthread.KindYield:
		dst = appendLine(dst, ev.Thread, "yield", ev.Thread)
	case jvmthread.KindStartCalled:
		dst = appendPeer(dst, "start", ev)
	case jvmthread.KindInterruptCalled:
		e.leave(ev.Peer) // no notify finds it from now on
		dst = appendPeer(dst, "interrupt", ev)
	case jvmthread.KindJoinStart:
		dst = appendPeer(dst, "join", ev)
	case jvmthread.KindSuspend:
		dst = appendPeer(dst, "suspend", ev)
	case jvmthread.KindResume:
		dst = appendPeer(dst, "resume", ev)
	case jvmthread.KindStop:
		dst = appendPeer(dst, "stop", ev)
	}
	if len(dst) == before {
		e.stats.Left[ev.Kind]++
	} else {
		e.stats.Written++
	}
	return dst
}

func (e *encoder) activate(ev *jvmthread.Event) {
	if len(e.since) >= recording.MaxThreads {
		clear(e.since)
	}
	e.since[ev.Thread] = ev.Time
}

// appendWait says for how long the thread was active, if that is known.
func (e *encoder) appendWait(dst []byte, ev *jvmthread.Event) []byte {
	e.leave(ev.Thread)
	if len(e.object) >= recording.MaxThreads {
		clear(e.object)
		clear(e.waits)
	}
	e.object[ev.Thread] = ev.Lock
	e.waits[ev.Lock] = append(e.waits[ev.Lock], ev.Thread)
	dst = appendLine(dst, ev.Thread, "wait", ev.Thread)
	if since, ok := e.since[ev.Thread]; ok {
		dst = append(dst[:len(dst)-1], ", active "...)
		dst = strconv.AppendInt(dst, int64(ev.Time.Sub(since)/time.Millisecond), 10)
		dst = append(dst, " ms\n"...)
	}
	delete(e.since, ev.Thread)
	return dst
}

// appendNotify says whom it woke.
func (e *encoder) appendNotify(dst []byte, ev *jvmthread.Event) []byte {
	for len(e.waits[ev.Lock]) > 0 {
		woken := e.waits[ev.Lock][0]
		e.leave(woken)
		if ev.Kind == jvmthread.KindNotify {
			return appendLine(dst, ev.Thread, "notify", woken)
		}
		dst = appendLine(dst, ev.Thread, "notifyAll", woken)
	}
	return dst
}

// leave takes a thread out of the wait set that it is in.
func (e *encoder) leave(id jvmthread.ThreadID) {
	lock, ok := e.object[id]
	if !ok {
		return
	}
	delete(e.object, id)
	set := e.waits[lock]
	if at := slices.Index(set, id); at >= 0 {
		set = slices.Delete(set, at, at+1)
	}
	if len(set) == 0 {
		delete(e.waits, lock)
		return
	}
	e.waits[lock] = set
}

func appendPeer(dst []byte, operation string, ev *jvmthread.Event) []byte {
	if ev.Peer == jvmthread.NoThread {
		return dst
	}
	return appendLine(dst, ev.Thread, operation, ev.Peer)
}

func appendLine(dst []byte, from jvmthread.ThreadID, operation string, to jvmthread.ThreadID) []byte {
	dst = strconv.AppendUint(append(dst, prefix...), uint64(from), 10)
	dst = append(append(append(dst, ", "...), operation...), ", "+prefix...)
	return append(strconv.AppendUint(dst, uint64(to), 10), '\n')
}
