// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

// Hold is one thread owning one lock over [Start, End), as far as contention makes it visible: holds that nobody waited for are not known.
// The holds of a lock do not overlap, and come in the order of time.
type Hold struct {
	Start, End Time
	Lock       LockID
	Thread     ThreadID
	Marks      HoldMarks
}

// HoldMarks say how well the ends of a hold are known.
type HoldMarks uint8

// The marks of holds.
const (
	HoldSinceBefore HoldMarks = 1 << iota // Start is when the owner was first seen; it may have got the lock earlier
	HoldInferred                          // End is when the next owner got the lock; this one may have released it earlier
	HoldOpen                              // it goes on behind the end of history
	HoldSoFar                             // it is told as it stands, and again when it is over
)
