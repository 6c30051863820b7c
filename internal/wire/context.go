// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// The record of an event with a span stores the ids in the fields peer, arg and lock, or in peer alone, as protocol/README.md describes.

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

// putSpan writes the ids into these fields of a record.
func putSpan(rec *[RecordSize]byte, ev *jvmthread.Event) {
	trace, span := &ev.Span.TraceID, &ev.Span.SpanID
	if ev.Kind == jvmthread.KindRequestEnd {
		binary.LittleEndian.PutUint64(rec[8:], binary.BigEndian.Uint64(span[:]))
		return
	}
	binary.LittleEndian.PutUint64(rec[8:], binary.BigEndian.Uint64(trace[:8]))
	binary.LittleEndian.PutUint64(rec[16:], binary.BigEndian.Uint64(trace[8:]))
	binary.LittleEndian.PutUint32(rec[24:], binary.BigEndian.Uint32(span[:4]))
	binary.LittleEndian.PutUint32(rec[28:], binary.BigEndian.Uint32(span[4:]))
}
