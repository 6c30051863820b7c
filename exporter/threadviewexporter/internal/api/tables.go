// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Stats are the sums and the distribution of some intervals over a time range.
//
// Count and Time are exact and add up over neighbouring ranges: Count is of the intervals that began in the range, Time is what of them, and of those that
// began before, lies in the range. Min, Max, Average and the rest are of the whole lengths (so far, if open) of the Seen intervals that
// overlap the range.
type Stats struct {
	Count   int64 `json:"count"`
	Time    int64 `json:"time"`
	Seen    int64 `json:"seen"`
	Min     int64 `json:"min"`
	Max     int64 `json:"max"`
	Average int64 `json:"average"`
	P50     int64 `json:"p50"` // quantiles are too large by less than an eighth
	P95     int64 `json:"p95"`
	P99     int64 `json:"p99"`
	// Buckets count lengths by powers of two: Buckets[i] is of those in [2^(First+i), 2^(First+i+1)) ns; First 0 begins at 0. They sum up to Seen.
	First   int     `json:"first"`
	Buckets []int64 `json:"buckets"`
}

// StateTime is how often and how long a state was.
type StateTime struct {
	Count int64 `json:"count"` // of intervals that began in the range
	Time  int64 `json:"time"`  // within the range
}

// Threads is the table of threads: GET api/sessions/{session}/threads.
type Threads struct {
	From    int64  `json:"from"`
	To      int64  `json:"to"`
	Version uint64 `json:"version"`
	Total   int    `json:"total"` // threads that the filter lets through
	Offset  int    `json:"offset"`

	Threads []ThreadRow `json:"threads"`
	Sum     ThreadSum   `json:"sum"`    // of all Total threads
	Groups  []string    `json:"groups"` // all thread groups of the session
	Pools   []string    `json:"pools"`  // all pools of the session
}

// ThreadRow is one thread with its sums over the range.
type ThreadRow struct {
	Thread

	ThreadSum
}

// ThreadSum is what threads come to. Blocked is blocked, and deadlocked after that; Waited is waiting for an object; joining, parking, sleeping and
// reentering are in States only.
type ThreadSum struct {
	Blocked StateTime   `json:"blocked"`
	Waited  StateTime   `json:"waited"`
	States  []StateTime `json:"states"` // by index into Info.States
	Time    int64       `json:"time"`   // in any state but dead
}

// Classes is the table of classes of locks: GET api/sessions/{session}/classes.
type Classes struct {
	From    int64      `json:"from"`
	To      int64      `json:"to"`
	Threads int        `json:"threads"` // selected
	Total   int        `json:"total"`
	Offset  int        `json:"offset"`
	Classes []ClassRow `json:"classes"`
	Sum     ClassRow   `json:"sum"` // of all Total classes
}

// ClassRow is all locks of one class, as far as the selected threads were concerned.
type ClassRow struct {
	Class    string `json:"class"` // empty: not known, or the sum
	Blocked  Stats  `json:"blocked"`
	Waited   Stats  `json:"waited"`   // waiting for notify
	Reenter  Stats  `json:"reenter"`  // wanting the monitor back after that
	Parked   Stats  `json:"parked"`   // on synchronizers of this class
	Joined   Stats  `json:"joined"`   // on threads of this class
	Monitors int    `json:"monitors"` // lock objects
	Threads  int    `json:"threads"`  // that were stopped on them
	// Saving is what the thread on whose critical path the class is would gain without its contention; null unless savings were asked for.
	Saving *Saving `json:"saving"`
}

// Callers is the table of methods that blocked or waited: GET api/sessions/{session}/callers.
type Callers struct {
	From    int64       `json:"from"`
	To      int64       `json:"to"`
	Kind    string      `json:"kind"` // blocked, waited, reenter, parked, joined, sleeping
	Total   int         `json:"total"`
	Offset  int         `json:"offset"`
	Callers []CallerRow `json:"callers"`
	Sum     CallerRow   `json:"sum"`
}

// CallerRow is one method that stopped threads on locks of one class.
type CallerRow struct {
	Class    string     `json:"class"`
	Method   string     `json:"method"` // com.acme.OrderBook.add; empty: no stack was taken
	Stats    Stats      `json:"stats"`
	Monitors int        `json:"monitors"`
	Threads  int        `json:"threads"`
	Stacks   []StackUse `json:"stacks"`  // the stacks behind the method, the longest time first: at most 20
	Hidden   int        `json:"hidden"`  // stacks that are left out
	Longest  Reference  `json:"longest"` // the longest of its intervals
}

// StackUse is a stack and how much it was used.
type StackUse struct {
	Stack uint32 `json:"stack"` // id, for GET api/sessions/{session}/stack
	Count int64  `json:"count"`
	Time  int64  `json:"time"`
	Line  string `json:"line"` // "OrderBook.java:42"
}

// Saving is what would be gained if nobody had to wait for a lock.
type Saving struct {
	Drag  int64 `json:"drag"`  // how much earlier the path's thread would be done
	Bound int64 `json:"bound"` // Drag is never more
}

// Path is a critical path: GET api/sessions/{session}/path.
type Path struct {
	From      int64       `json:"from"`
	To        int64       `json:"to"`
	Thread    ThreadRef   `json:"thread"` // whose path it is
	Chosen    string      `json:"chosen"` // why that one: asked, blocked longest, ran last
	Unbounded bool        `json:"unbounded"`
	Cut       bool        `json:"cut"`   // it has more pieces than were looked at
	Total     int         `json:"total"` // segments; those in the list are fewer if short neighbours had to be joined
	Segments  []Segment   `json:"segments"`
	Threads   []ThreadRef `json:"threads"` // on the path

	Locks     []PathRow `json:"locks"`      // time on the path that was reached through waits for each lock; at most 200 rows in each table, the longest first
	Classes   []PathRow `json:"classes"`    // the same by class
	Sites     []PathRow `json:"sites"`      // the same by class and place
	PerThread []PathRow `json:"per_thread"` // time of the path that is on each thread
	PerKind   []PathRow `json:"per_kind"`   // time of the path by kind of segment
}

// Segment is a piece of a path. Segments touch, and tile the range.
type Segment struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Thread uint64 `json:"thread"`
	Kind   string `json:"kind"`   // run, sleep, blocked_unknown, wake_latency, ...
	Depth  int    `json:"depth"`  // waits that lead from the path's thread here: 0 is the thread itself
	Joined int    `json:"joined"` // segments that this one stands for; 1: only itself
}

// PathRow is a row of one of the tables of a path.
type PathRow struct {
	Name   string     `json:"name"`   // class, method, thread or kind
	Lock   *LockRef   `json:"lock"`   // of tables by lock
	Thread *ThreadRef `json:"thread"` // of the table by thread
	Stack  uint32     `json:"stack"`  // of the table by place; 0: none
	State  string     `json:"state"`  // blocked, waiting, parked, ...: what the wait was
	Count  int        `json:"count"`  // waits, or segments
	Time   int64      `json:"time"`   // on the path. Rows of locks and places overlap if one wait led to another
	Share  float64    `json:"share"`  // of the path: 0 to 1
	Saving *Saving    `json:"saving"` // of locks and classes; else null
	First  *Reference `json:"first"`  // where to look: the longest wait or segment of the row
}

// Log is the interactions as IBM's triples: GET api/sessions/{session}/log.
type Log struct {
	From   int64    `json:"from"`
	To     int64    `json:"to"`
	Lines  []Triple `json:"lines"`
	Cursor string   `json:"cursor"` // parameter cursor for what follows; empty at the end
}

// Triple is a line of the log: who, did what, to whom.
type Triple struct {
	Time   int64     `json:"time"`
	Thread ThreadRef `json:"thread"`
	What   string    `json:"what"`   // start, wait, notify, notifyAll, handoff, join, interrupt, unpark, block, sleep, park, end, timeout, deadlock
	Target ThreadRef `json:"target"` // the operated thread; the thread itself for wait, sleep, park, end
	Lock   *LockRef  `json:"lock"`
	Active int64     `json:"active"` // ns for which the thread was active before this wait; -1 if the line is no wait
	Seq    uint32    `json:"seq"`    // interval of Target
	Text   string    `json:"text"`   // "Thread-60934352, wait, Thread-60934352, active 8 ms"
}
