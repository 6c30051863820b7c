// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

// Detail holds what only few intervals have. It is stored separately, so that the other intervals stay small.
type Detail struct {
	Span       SpanContext // of the application, current on the thread when its wait began
	OwnerSpan  SpanContext // current at that time on the thread that owned the lock
	OwnerStack StackID     // of that thread at that time
	CPU        int64       // nanoseconds of CPU time in a runnable interval
	HasCPU     bool
}

// IsZero reports whether there are no details.
func (d Detail) IsZero() bool { return d == Detail{} }
