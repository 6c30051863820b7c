// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/internal/wording"
)

// Meta describes the JVM of a session: the attributes of its resource.
type Meta map[string]string

func (m Meta) size() int64 {
	const perEntry = 64
	size := perEntry * len(m)
	for key, value := range m {
		size += len(key) + len(value)
	}
	return int64(size)
}

// Session describes the session in a recording.
func (m Meta) Session(id jvmthread.SessionID) recording.Session {
	s := recording.Session{ID: id}
	if pid, err := strconv.ParseUint(m["process.pid"], 10, 32); err == nil {
		s.PID = uint32(pid)
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		s.Attributes = append(s.Attributes, wire.Attribute{Key: key, Value: m[key]})
	}
	return s
}

// LockIndex names a lock of a session; 0: none.
type LockIndex uint32

// StackID names a stack of a session; 0: none.
type StackID uint32

// Interval is an interval of a snapshot, with the session's ids of locks and stacks.
type Interval struct {
	Start, End jvmthread.Time
	Thread     int   // index in the snapshot
	Peer       int   // index in the snapshot of the lock's owner or of the joined thread; 0: none
	Timeout    int64 // see jvmthread.Interval
	Lock       LockIndex
	Stack      StackID
	Seq        jvmthread.Seq
	Cycle      jvmthread.Cycle
	State      jvmthread.State
	Marks      jvmthread.Marks
	Wait       jvmthread.Wait
}

// Waited is the length of the wait up to the end of the interval, see jvmthread.Interval.
func (iv *Interval) Waited() jvmthread.Time {
	if iv.Marks.Has(jvmthread.MarkContinues) {
		return iv.End - iv.Start - jvmthread.Time(iv.Timeout)
	}
	return iv.End - iv.Start
}

// As is the state that a wait is counted under: blocked if it is contended, whatever the lock.
func (iv *Interval) As() jvmthread.State { return as(iv.State, iv.Wait) }

// Shown is the state in whose color the interval is painted.
func (iv *Interval) Shown() jvmthread.State { return shown(iv.State, iv.Wait) }

// What threads are shown as in addition to the states that the JVM knows: one without a task, and one that reads, writes, or waits for a
// process. NumShown is the number of all.
const (
	StateIdle = jvmthread.State(jvmthread.NumStates + iota)
	StateIO
	NumShown = jvmthread.NumStates + iota
)

// shown is the state in whose color an interval is painted: blocked if the thread is parked for something that others hold, idle if it
// waits for a task or its time, and I/O, for which the JVM has no state.
func shown(state jvmthread.State, wait jvmthread.Wait) jvmthread.State {
	switch {
	case state == jvmthread.StateParked && wait.Contended():
		return jvmthread.StateBlocked
	case wait.Idle() && state != jvmthread.StateDeadlocked:
		return StateIdle
	case wait == jvmthread.WaitIO && state != jvmthread.StateDeadlocked:
		return StateIO
	}
	return state
}

func as(state jvmthread.State, wait jvmthread.Wait) jvmthread.State {
	if wait.Contended() {
		return jvmthread.StateBlocked
	}
	return state
}

// Edge is an interaction of a snapshot.
type Edge struct {
	Cause, Effect  jvmthread.Time
	From, To       int // threads
	FromSeq, ToSeq jvmthread.Seq
	Lock           LockIndex
	Stack          StackID
	Kind           jvmthread.InteractionKind
	Confidence     jvmthread.Confidence
}

// Hold is a hold of a snapshot.
type Hold struct {
	Start, End jvmthread.Time
	Lock       LockIndex
	Thread     int
	Marks      jvmthread.HoldMarks
}

// Counts are the contents of the blocks of a session.
type Counts struct{ Intervals, Interactions, Holds int }

// Deadlock is a cycle of threads.
type Deadlock struct {
	Cycle jvmthread.Cycle
	Since jvmthread.Time
	Until jvmthread.Time // when a thread left it; 0: none has
	// Members are the threads, each with the lock that it waits for. Each holds the lock that the one before it waits for.
	Members []Interval
}

// Gap is a window in which events were lost.
type Gap struct {
	Start, End   jvmthread.Time
	Lost, Missed uint64
}

const (
	maxGaps      = 1000
	maxDeadlocks = 100
)

// last returns the last n elements, as a copy if there are more.
func last[T any](list []T, n int) []T {
	if len(list) > n {
		return append([]T(nil), list[len(list)-n:]...)
	}
	return list
}

// Lock is a lock of a session.
type Lock struct {
	Class uint32 // id of the name of the class
	Hash  uint32
}

// Thread is a thread of a session.
type Thread struct {
	jvmthread.Thread

	First, Last jvmthread.Time // when it began or was first seen, and when it ended or was last seen
	Dead        bool           // it has ended
	Known       bool           // the index is in use
	Start       StackID        // where it was started; 0: not known

	used    uint64  // the newest block that refers to it
	chunks  []chunk // its lanes, by time
	dropped int     // chunks removed since the list was copied
	open    chunk   // in a snapshot, its lane in the open block; no block: it has none
}

// chunk is a lane of a thread.
type chunk struct {
	block *Block
	lane  int32
}

// ThreadName returns the name of the thread at an index, or a name made from its id.
func (sn *Snapshot) ThreadName(i int) string {
	return wording.ThreadName(sn.Threads[i].Name, sn.Threads[i].ID)
}

// Title is the name of an interval, the same as of its span.
func (sn *Snapshot) Title(iv *Interval) string {
	return wording.Title(iv.State, iv.Wait, sn.Object(iv), iv.Marks.Has(jvmthread.MarkTimedOut))
}

// Object returns the name of what an interval waits for, or an empty string.
func (sn *Snapshot) Object(iv *Interval) string {
	if iv.State == jvmthread.StateJoining {
		return sn.ThreadName(iv.Peer)
	}
	site := sn.Site(iv.Stack)
	return wording.Object(iv.Wait, sn.Class(iv.Lock), site.Lock, site.Entry)
}

// EndedBy is the cut that ended a session: shutdown if it is live.
func (sn *Snapshot) EndedBy() window.Cut { return cmp.Or(sn.Ended, window.CutShutdown) }
