// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package viewapi

// Stats are the sums and the distribution of some intervals over a time range.
//
// Count and Time are exact and add up over adjacent ranges: Count is the intervals that began in the range, Time is the time of all intervals
// within it. Min, Max, Average and the rest are of the full lengths (so far, if open) of the Seen intervals that overlap the range.
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
	// Buckets count lengths by powers of two: Buckets[i] is for [2^(First+i), 2^(First+i+1)) ns; First 0 begins at 0. They add up to Seen.
	First   int     `json:"first"`
	Buckets []int64 `json:"buckets"`
}

// StateTime is how often and for how long a state occurred.
type StateTime struct {
	Count int64 `json:"count"` // of intervals that began in the range
	Time  int64 `json:"time"`  // within the range
}

// Threads is the table of threads: GET api/sessions/{session}/threads.
type Threads struct {
	From    int64  `json:"from"`
	To      int64  `json:"to"`
	Version uint64 `json:"version"`
	Total   int    `json:"total"` // threads that match the filter
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
	OnlyIdle bool `json:"only_idle"` // it was never blocked in the range, and idle for all of it but a hundredth
}

// ThreadSum is the sums of threads. Blocked includes deadlocks that were blocked before; Waited is waiting for an object; Idle is waiting for a
// task or its time, IO reading, writing, and waiting for a process. The other states are in States only, which have all of the time: that of
// Idle and IO is in them as parked, waiting, ...
type ThreadSum struct {
	Blocked StateTime   `json:"blocked"`
	Waited  StateTime   `json:"waited"`
	Idle    StateTime   `json:"idle"`
	IO      StateTime   `json:"io"`
	States  []StateTime `json:"states"` // by index into Info.States, without its last two, idle and io
	Time    int64       `json:"time"`   // in all states except dead
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

// ClassRow is all locks of one class, for the selected threads.
type ClassRow struct {
	Class string `json:"class"` // empty: unknown, or the sum
	Kind  string `json:"kind"`  // of the contended waits with the most time: lock, permit, pool; empty: there are none, or the sum
	// Names are what contended waits were for, the most time first: locks as the source names them, "OrderBook.lock", and pools by the class
	// through which the application entered them, "HikariPool". At most 5, without those that only have a class.
	Names    []string `json:"names"`
	Blocked  Stats    `json:"blocked"`
	Waited   Stats    `json:"waited"`   // waiting for notify
	Reenter  Stats    `json:"reenter"`  // reacquiring the monitor after that
	Parked   Stats    `json:"parked"`   // on synchronizers of this class
	Joined   Stats    `json:"joined"`   // on threads of this class
	Monitors int      `json:"monitors"` // lock objects
	Threads  int      `json:"threads"`  // that waited for them
	// Saving is what the thread of the critical path would save without contention for the class; null if not requested or unknown.
	Saving *Saving `json:"saving"`
}

// Kinds is the table of waits by kind: GET api/sessions/{session}/kinds.
type Kinds struct {
	From  int64     `json:"from"`
	To    int64     `json:"to"`
	Total int       `json:"total"`
	Kinds []KindRow `json:"kinds"`
	Sum   KindRow   `json:"sum"`
}

// KindRow is all waits for things of a kind.
type KindRow struct {
	Wait    string   `json:"wait"`  // kind: lock, permit, pool, queue, ...; "unknown" if it has none; empty for the sum
	State   string   `json:"state"` // under which other tables count it: blocked, waited, reenter, parked, joined, sleeping, queued, suspended; empty for the sum
	Objects int      `json:"objects"`
	Names   int      `json:"names"` // different names of what the waits were for; those without a name count by class
	Most    []string `json:"most"`  // of them, the most time first: at most 3
	Site    *Site    `json:"site"`  // the method that waited longest; null: not known
	Idle    bool     `json:"idle"`  // the threads had no task
	Stats   Stats    `json:"stats"`
	Threads int      `json:"threads"`
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

// CallerRow is one method that stopped threads on locks of one class and name.
type CallerRow struct {
	Class    string     `json:"class"`
	Name     string     `json:"name"`   // of the lock in the source, or of the pool, else of its class without the package
	Wait     string     `json:"wait"`   // kind of the longest wait: lock, permit, pool, condition, queue; empty for the sum
	Method   string     `json:"method"` // com.acme.OrderBook.add; empty: no stack was taken
	Stats    Stats      `json:"stats"`
	Monitors int        `json:"monitors"`
	Threads  int        `json:"threads"`
	Stacks   []StackUse `json:"stacks"`  // of the method, the longest time first: at most 20
	Hidden   int        `json:"hidden"`  // stacks that are omitted
	Longest  Reference  `json:"longest"` // the longest of its intervals
}

// StackUse is a stack and how much it was used.
type StackUse struct {
	Stack uint32 `json:"stack"` // id, for GET api/sessions/{session}/stack
	Count int64  `json:"count"`
	Time  int64  `json:"time"`
	Line  string `json:"line"` // "OrderBook.java:42"
}

// Saving is what would be saved if no thread had to wait for a lock.
type Saving struct {
	Drag   int64 `json:"drag"`   // how much earlier the thread of the path would finish
	Bound  int64 `json:"bound"`  // upper bound of Drag
	Waited int64 `json:"waited"` // that the thread of the path waited itself; only in tables of classes
}

// Path is a critical path: GET api/sessions/{session}/path.
type Path struct {
	From      int64       `json:"from"`
	To        int64       `json:"to"`
	Thread    ThreadRef   `json:"thread"` // whose path it is
	Chosen    string      `json:"chosen"` // reason for the choice: asked, waited longest, main thread, ended last
	Unbounded bool        `json:"unbounded"`
	Text      string      `json:"text"`  // what the time went into, in a sentence with the largest of Parts
	Cut       bool        `json:"cut"`   // incomplete, since it has too many pieces
	Total     int         `json:"total"` // segments; the list has fewer if short neighbors were joined
	Segments  []Segment   `json:"segments"`
	Threads   []ThreadRef `json:"threads"` // of the segments
	Virtual   []Members   `json:"virtual"` // those of Threads that are virtual, by group

	Locks     []PathRow `json:"locks"`      // time on the path that was reached through waits for each lock; at most 200 rows in each table, the longest first
	Classes   []PathRow `json:"classes"`    // the same by class
	Sites     []PathRow `json:"sites"`      // the same by class and place
	PerThread []PathRow `json:"per_thread"` // time of the path that is on each thread
	PerKind   []PathRow `json:"per_kind"`   // time of the path by kind of segment
	Parts     []PathRow `json:"parts"`      // what the path's thread did itself or waited for, and for whom, in words; of an unbounded path, each thread

	// NoSavings says why no row's Saving means anything: the thread does not end in the range, or waits for tasks. Empty: savings are estimates.
	NoSavings string `json:"no_savings"`
}

// Segment is a part of a path. Segments tile the range.
type Segment struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Thread uint64 `json:"thread"`
	Kind   string `json:"kind"`   // run, sleep, blocked_unknown, wake_latency, ...
	Depth  int    `json:"depth"`  // waits that lead from the path's thread here: 0 is the thread itself
	Joined int    `json:"joined"` // segments joined into this one, at least 1
}

// PathRow is a row of one of the tables of a path.
type PathRow struct {
	Name   string     `json:"name"`   // class, method, thread or kind; of Parts, words
	Shown  int        `json:"shown"`  // of Parts: the state in whose color lanes show the thread meanwhile
	Lock   *LockRef   `json:"lock"`   // of tables by lock
	Thread *ThreadRef `json:"thread"` // of the table by thread; of Parts, for whom the thread waited longest; else null
	Stack  uint32     `json:"stack"`  // of the table by place; 0: none
	State  string     `json:"state"`  // what the wait was for: lock, permit, pool, object, sleep, ...
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

// Triple is a line of the log: thread, action, target.
type Triple struct {
	Time   int64     `json:"time"`
	Thread ThreadRef `json:"thread"`
	What   string    `json:"what"`   // start, wait, notify, notifyAll, handoff, join, interrupt, unpark, block, sleep, park, end, timeout, deadlock, suspend, resume, stop, yield
	Target ThreadRef `json:"target"` // the operated thread; the thread itself for wait, sleep, park, end, yield; "none" (id 0) for a notify that woke none
	Lock   *LockRef  `json:"lock"`
	Active int64     `json:"active"` // ns that the thread was active before this wait: since it started or was woken; -1 if unknown, and for other lines
	Seq    uint32    `json:"seq"`    // interval of Target
	Text   string    `json:"text"`   // "Thread-60934352, wait, Thread-60934352, active 8 ms"
}
