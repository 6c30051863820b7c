// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

// Detail is what only few intervals have; it is kept beside them, so that the others do not pay for it.
type Detail struct {
	Span       SpanContext // of the application, current on the thread when its wait began
	OwnerSpan  SpanContext // current then on the thread that owned the lock
	OwnerStack StackID     // where that thread was then
	CPU        int64       // nanoseconds that a runnable thread was on a processor
	HasCPU     bool
}

// IsZero reports whether there is nothing to keep.
func (d Detail) IsZero() bool { return d == Detail{} }
