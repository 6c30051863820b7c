// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthread

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"time"
)

// Time is a point in time in nanoseconds since the Unix epoch, taken from the JVM's monotonic clock and shifted once per session. Differences
// between two times of a session are exact and unaffected by changes of the wall clock.
type Time int64

// NoTime means unknown.
const NoTime Time = 0

// Earliest and Latest bound the times of what an engine is given, in 1823 and 2116, so that no difference of two overflows. Damaged recordings
// have others.
const (
	Earliest Time = -Latest
	Latest   Time = math.MaxInt64 / 2
)

// Sub returns the exact duration from earlier to t.
func (t Time) Sub(earlier Time) time.Duration { return time.Duration(t - earlier) }

// ThreadID is the result of Thread.threadId(). The JVM never reuses one within a session.
type ThreadID uint64

// NoThread means no thread or an unknown one; Java thread ids start at 1.
const NoThread ThreadID = 0

// ClassID identifies a class within one session; the session's symbol table has its name.
type ClassID uint32

// NoClass means no class or an unknown one.
const NoClass ClassID = 0

// PausesThread is a pseudo thread. Its waits are the pauses of the JVM, in which all threads stand still; what it does between them is not
// known. The number is larger than that of any Java thread, and exact in JavaScript.
const PausesThread ThreadID = 1<<53 - 2

// PausesName is what that thread is called.
const PausesName = "JVM pauses"

// PauseClass stands for the class of what its waits for a garbage collection are for.
const PauseClass = "garbage collection"

// LockID identifies a lock: a Java monitor or a synchronizer of java.util.concurrent. The identity hash has 31 bits, so two live objects of
// one class may collide: with 1 000 live locks of a class, the probability that any two do is 0.02 %.
type LockID struct {
	Class ClassID
	Hash  uint32
}

// NoLock is the zero LockID: no object is involved or known.
var NoLock = LockID{} //nolint:gochecknoglobals // read-only value

// IsZero reports whether no lock is known.
func (l LockID) IsZero() bool { return l == NoLock }

// String formats the lock as class/hash, for tests and vectors; user interfaces show class names.
func (l LockID) String() string { return fmt.Sprintf("%d/%x", l.Class, l.Hash) }

// StackID identifies an interned call stack within one session.
type StackID uint32

// NoStack means that no stack was taken.
const NoStack StackID = 0

// SessionID identifies one run of one JVM under one agent. Its first byte is never zero: some trace stores drop leading zeros.
type SessionID [16]byte

// DeriveSessionID returns an ID that is the same for the same data.
func DeriveSessionID(data []byte) (id SessionID) {
	hash := sha256.Sum256(data)
	copy(id[:], hash[:])
	id[0] |= 1 // not zero
	return id
}

// String returns the 32 hexadecimal digits.
func (s SessionID) String() string { return hex.EncodeToString(s[:]) }
