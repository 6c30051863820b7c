// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

import "encoding/binary"

// SpanContext names a span of the application, as the W3C's Trace Context does. The zero value is none.
type SpanContext struct {
	TraceID [16]byte
	SpanID  [8]byte
}

// IsZero reports whether no span is named.
func (c SpanContext) IsZero() bool { return c == SpanContext{} }

// ContextEvent says that from a time on the span is current on the thread, or that none is. The ids take the place of Peer, Arg and Lock,
// which mean nothing else then.
func ContextEvent(at Time, thread ThreadID, c SpanContext) Event {
	return Event{
		Time: at, Thread: thread, Kind: KindContext,
		Peer: ThreadID(binary.BigEndian.Uint64(c.TraceID[:8])),
		Arg:  int64(binary.BigEndian.Uint64(c.TraceID[8:])),
		Lock: LockID{Hash: binary.BigEndian.Uint32(c.SpanID[:4]), Class: ClassID(binary.BigEndian.Uint32(c.SpanID[4:]))},
	}
}

// SpanContext is what a context event says.
func (ev *Event) SpanContext() (c SpanContext) {
	binary.BigEndian.PutUint64(c.TraceID[:8], uint64(ev.Peer))
	binary.BigEndian.PutUint64(c.TraceID[8:], uint64(ev.Arg))
	binary.BigEndian.PutUint32(c.SpanID[:4], ev.Lock.Hash)
	binary.BigEndian.PutUint32(c.SpanID[4:], uint32(ev.Lock.Class))
	return c
}
