// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

// SpanContext identifies a span of the application, as in W3C Trace Context. The zero value identifies none.
type SpanContext struct {
	TraceID [16]byte
	SpanID  [8]byte
}

// IsZero reports whether no span is identified.
func (c SpanContext) IsZero() bool { return c == SpanContext{} }
