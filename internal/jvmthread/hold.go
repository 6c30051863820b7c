// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

// Hold is the ownership of a lock by a thread over [Start, End). Only contention makes holds visible: a hold for which no thread waited is
// unknown. The holds of a lock do not overlap and are in the order of time.
type Hold struct {
	Start, End Time
	Lock       LockID
	Thread     ThreadID
	Marks      HoldMarks
}

// HoldMarks describe how well the ends of a hold are known.
type HoldMarks uint8

// The marks of holds.
const (
	HoldSinceBefore HoldMarks = 1 << iota // Start is when the owner was first seen; it may have got the lock earlier
	HoldInferred                          // End is when the next owner got the lock; the release may have been earlier
	HoldOpen                              // the thread still owns the lock at End
	HoldSoFar                             // reported while open and again on completion
)
