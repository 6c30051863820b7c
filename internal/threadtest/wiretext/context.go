// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wiretext

import (
	"encoding/binary"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// The text of an event with a span shows the ids as the record stores them: in the fields peer, arg and lock, or in peer alone.

// packSpan returns the event with the ids of its span in these fields.
func packSpan(ev jvmthread.Event) jvmthread.Event {
	trace, span := &ev.Span.TraceID, &ev.Span.SpanID
	if ev.Kind == jvmthread.KindRequestEnd {
		ev.Peer = jvmthread.ThreadID(binary.BigEndian.Uint64(span[:]))
		return ev
	}
	ev.Peer = jvmthread.ThreadID(binary.BigEndian.Uint64(trace[:8]))
	ev.Arg = int64(binary.BigEndian.Uint64(trace[8:]))
	ev.Lock = jvmthread.LockID{Hash: binary.BigEndian.Uint32(span[:4]), Class: jvmthread.ClassID(binary.BigEndian.Uint32(span[4:]))}
	return ev
}

// unpackSpan moves the ids from these fields to the event's span.
func unpackSpan(ev *jvmthread.Event) {
	trace, span := &ev.Span.TraceID, &ev.Span.SpanID
	if ev.Kind == jvmthread.KindRequestEnd {
		binary.BigEndian.PutUint64(span[:], uint64(ev.Peer))
		ev.Peer = jvmthread.NoThread
		return
	}
	binary.BigEndian.PutUint64(trace[:8], uint64(ev.Peer))
	binary.BigEndian.PutUint64(trace[8:], uint64(ev.Arg))
	binary.BigEndian.PutUint32(span[:4], ev.Lock.Hash)
	binary.BigEndian.PutUint32(span[4:], uint32(ev.Lock.Class))
	ev.Peer, ev.Arg, ev.Lock = jvmthread.NoThread, 0, jvmthread.NoLock
}
