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

// NewEncoder returns an encoder of triples. It determines which thread a notify woke from the wait set, first in first out like HotSpot.
func NewEncoder(recording.EncoderOptions) recording.Encoder {
	e := &encoder{
		since: make(map[jvmthread.ThreadID]jvmthread.Time), waits: make(map[jvmthread.LockID][]jvmthread.ThreadID),
		object: make(map[jvmthread.ThreadID]jvmthread.LockID),
	}
	e.Append = e.append
	return e
}

type encoder struct {
	recording.EventEncoder

	since  map[jvmthread.ThreadID]jvmthread.Time     // when a thread became active
	waits  map[jvmthread.LockID][]jvmthread.ThreadID // wait sets
	object map[jvmthread.ThreadID]jvmthread.LockID   // whose wait set a thread is in
}

// append appends the lines of an event; for most notifies that is one.
func (e *encoder) append(dst []byte, ev *jvmthread.Event) []byte {
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
		return e.appendWait(dst, ev)
	case jvmthread.KindNotify, jvmthread.KindNotifyAll:
		return e.appendNotify(dst, ev)
	case jvmthread.KindInterruptCalled:
		e.leave(ev.Peer) // a later notify does not wake it
	}
	switch op := byKind[ev.Kind]; {
	case op == nil:
		return dst
	case op.self:
		return appendLine(dst, ev.Thread, op.name, ev.Thread)
	case ev.Peer == jvmthread.NoThread:
		return dst
	default:
		return appendLine(dst, ev.Thread, op.name, ev.Peer)
	}
}

func (e *encoder) activate(ev *jvmthread.Event) {
	if len(e.since) >= recording.MaxThreads {
		clear(e.since)
	}
	e.since[ev.Thread] = ev.Time
}

// appendWait appends for how long the thread was active, if known.
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

// appendNotify appends a line for each thread woken.
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

// leave removes a thread from the wait set that it is in.
func (e *encoder) leave(id jvmthread.ThreadID) {
	lock, ok := e.object[id]
	if !ok {
		return
	}
	delete(e.object, id)
	set := slices.DeleteFunc(e.waits[lock], func(other jvmthread.ThreadID) bool { return other == id })
	if len(set) == 0 {
		delete(e.waits, lock)
		return
	}
	e.waits[lock] = set
}

func appendLine(dst []byte, from jvmthread.ThreadID, operation string, to jvmthread.ThreadID) []byte {
	dst = strconv.AppendUint(append(dst, prefix...), uint64(from), 10)
	dst = append(append(append(dst, ", "...), operation...), ", "+prefix...)
	return append(strconv.AppendUint(dst, uint64(to), 10), '\n')
}
