// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"encoding/binary"
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Ids are computed, not drawn: the same session, window, thread and interval always have the same ids. So a link can be written
// before its target is, an exemplar agrees with a span of another component, and sending a window twice does no harm.

// TraceID is the id of the trace that thread_span makes of a session's window that starts at the given time.
func TraceID(s jvmthread.SessionID, start jvmthread.Time) pcommon.TraceID { return traceID(s, start) }

// SpanID is the id of the span of an interval, or of a piece of it, in the window that starts at the given time.
func SpanID(s jvmthread.SessionID, start jvmthread.Time, ref jvmthread.IntervalRef) pcommon.SpanID {
	return spanID(s, start, ref)
}

// DeadlockID names a deadlock in the whole world.
func DeadlockID(s jvmthread.SessionID, c jvmthread.Cycle) string {
	hi, lo := halves(s)
	return fmt.Sprintf("%016x", mix(hi, lo, 4, uint64(c)))
}

// traceID is the id of the trace of the window that starts at the given time.
func traceID(s jvmthread.SessionID, start jvmthread.Time) pcommon.TraceID {
	var id pcommon.TraceID
	hi, lo := halves(s)
	binary.BigEndian.PutUint64(id[:8], mix(hi, lo, uint64(start), 1))
	binary.BigEndian.PutUint64(id[8:], mix(hi, lo, uint64(start), 2))
	id[0] = notZero(id[0])
	return id
}

// spanID is the id of the span of an interval in a window. Seq 0 is the thread itself, thread 0 the window's root.
func spanID(s jvmthread.SessionID, start jvmthread.Time, ref jvmthread.IntervalRef) pcommon.SpanID {
	var id pcommon.SpanID
	hi, lo := halves(s)
	binary.BigEndian.PutUint64(id[:], mix(hi, lo, uint64(start), 3, uint64(ref.Thread), uint64(ref.Seq)))
	id[0] = notZero(id[0])
	return id
}

func halves(s jvmthread.SessionID) (hi, lo uint64) {
	return binary.BigEndian.Uint64(s[:8]), binary.BigEndian.Uint64(s[8:])
}

// mix hashes numbers with the finalizer of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
func mix(vs ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, v := range vs {
		h ^= v
		h ^= h >> 30
		h *= 0xbf58476d1ce4e5b9
		h ^= h >> 27
		h *= 0x94d049bb133111eb
		h ^= h >> 31
		h += 0x9e3779b97f4a7c15
	}
	return h
}

// notZero keeps the first byte from being zero: Tempo does not find ids with leading zeros in queries of links.
func notZero(b byte) byte {
	if b == 0 {
		return 0xff
	}
	return b
}
