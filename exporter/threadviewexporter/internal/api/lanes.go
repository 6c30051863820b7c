// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Lanes is a picture of threads over a time range: GET api/sessions/{session}/lanes.
type Lanes struct {
	From int64 `json:"from"` // of the range that was asked for
	To   int64 `json:"to"`
	// Step is the length of one step. It is (To-From)/width rounded up, or a multiple of that if the answer would be too large otherwise.
	Step  int64 `json:"step"`
	Steps int   `json:"steps"` // of the range; the last one may reach behind To

	Version uint64 `json:"version"` // of the session
	Total   int    `json:"total"`   // threads that the filter lets through
	Offset  int    `json:"offset"`  // of the first lane in the list of those
	Lanes   []Lane `json:"lanes"`
}

// Lane is one thread. Run i takes Width[i] steps, from left to right and without a gap: the sum of the widths is Steps.
//
// Runs say what to paint: Code[i] is
//
//	bits 0-3   the state that takes most of the run (index into Info.States); 15: the thread does not exist
//	bits 4-7   the state that takes most of the rest; 15: there is no rest
//	bits 8-11  how much of the run the first state takes: 0 (none) to 15 (all)
//	bits 12-19 marks, of everything in the run (see the Mark constants)
//
// A run of one interval has no rest and a share of 15. Intervals shorter than a step share a step with others: none is left out of its mix.
type Lane struct {
	Thread Thread `json:"thread"`
	Width  []int  `json:"width"`
	Code   []int  `json:"code"`
}

// NoState is the code of a state that is none: no thread, or no rest.
const NoState = 15

// The marks of runs.
const (
	MarkTimedOut    = 1 << iota // a wait ended since its time was over
	MarkInterrupted             // a wait ended by an interrupt
	MarkOpen                    // goes on: nothing has ended the state
	MarkPartial                 // history begins in the middle of the state
	MarkDeadlocked              // a thread is deadlocked here
	MarkStopped                 // a state in which the thread is held up is here: blocked, deadlocked, reentering
	MarkMixed                   // more than one interval
	MarkUnknown                 // history is missing here
)

// Thread is what is known of a thread apart from its sums.
type Thread struct {
	ID      uint64 `json:"id"`
	Name    string `json:"name"`
	Group   string `json:"group"` // thread group; empty if not known
	Pool    string `json:"pool"`  // the name without its numbers, if other threads share it: "http-nio-exec-*"; else empty
	Daemon  bool   `json:"daemon"`
	Virtual bool   `json:"virtual"`
	From    int64  `json:"from"` // when it began, or was first seen
	To      int64  `json:"to"`   // when it ended, or the end of the session
	Dead    bool   `json:"dead"` // it has ended
}

// Minimap is the whole session at a glance: GET api/sessions/{session}/minimap.
type Minimap struct {
	From  int64 `json:"from"`
	To    int64 `json:"to"`
	Step  int64 `json:"step"`
	Steps int   `json:"steps"`
	// Time[s][i] is the time in nanoseconds that all selected threads together spent in state s within step i. States that never occur have an empty list.
	Time [][]int64 `json:"time"`
}

// Arrows are the interactions of a time range: GET api/sessions/{session}/interactions.
type Arrows struct {
	From    int64       `json:"from"`
	To      int64       `json:"to"`
	Kinds   []ArrowKind `json:"kinds"` // one for each index into Info.Interactions
	Arrows  []Arrow     `json:"arrows"`
	Threads []ThreadRef `json:"threads"` // the ends of the arrows
}

// ArrowKind counts the interactions of a kind.
type ArrowKind struct {
	Total  int `json:"total"`  // whose effect is in the range, between the selected threads
	Hidden int `json:"hidden"` // of these, not in the list. Kept are those with the longest latency in each slice of the range
}

// Arrow is: From let To go on.
type Arrow struct {
	Kind       int     `json:"kind"`       // index into Info.Interactions
	From       uint64  `json:"from"`       // thread of the cause
	FromTime   int64   `json:"from_time"`  // of the cause
	To         uint64  `json:"to"`         // thread that goes on
	ToTime     int64   `json:"to_time"`    // when it does; not before FromTime
	ToStart    int64   `json:"to_start"`   // when its wait had begun
	Lock       LockRef `json:"lock"`       // id 0: none
	Confidence string  `json:"confidence"` // exact, fifo, inferred, ambiguous
}

// Interval is everything about one interval: GET api/sessions/{session}/interval.
type Interval struct {
	Thread ThreadRef `json:"thread"`
	Seq    uint32    `json:"seq"`   // number of the interval in its thread's life, from 1
	State  int       `json:"state"` // index into Info.States
	Title  string    `json:"title"` // what the span is called: "blocked OrderBook"
	From   int64     `json:"from"`
	To     int64     `json:"to"` // end so far, if it is open
	Marks  int       `json:"marks"`

	Timeout int64      `json:"timeout"`  // of the wait, in ns; 0: none
	Lock    *LockRef   `json:"lock"`     // that it is about, or null
	Stack   *Stack     `json:"stack"`    // where the thread stopped, or null
	Owner   *Doing     `json:"owner"`    // who held the lock, or whom it joins, when it began, and what that one was doing; or null
	Cause   *Cause     `json:"cause"`    // what let the thread go on, or null
	Why     string     `json:"why"`      // what ended it, in a word: handoff, notify, ..., timeout, deadlock, unknown; empty while it goes on
	Effects []Effect   `json:"effects"`  // what was caused in this interval: at most 100
	More    int        `json:"more"`     // effects that are left out
	Held    []Holding  `json:"held"`     // locks that it held meanwhile, as far as contention shows them
	Text    string     `json:"text"`     // all this in a sentence or two
	Span    *Span      `json:"span"`     // that thread_span makes of it, or null
	Prev    *Reference `json:"previous"` // the thread's interval before, or null
	Next    *Reference `json:"next"`     // the one behind, or null

	Deadlock string `json:"deadlock"` // id, or empty
}

// Reference leads to an interval.
type Reference struct {
	Thread ThreadRef `json:"thread"`
	Seq    uint32    `json:"seq"`
	Time   int64     `json:"time"` // a time within it, good as the parameter at
	State  int       `json:"state"`
	Title  string    `json:"title"`
}

// Doing is what a thread was doing at a time.
type Doing struct {
	Thread   ThreadRef  `json:"thread"`
	Time     int64      `json:"time"`
	Interval *Reference `json:"interval"` // null if it is not known
	// Stack is the place where the lock was held, as far as it is known: where the holder was seen when the other one came, if the agent looked; or
	// where it was itself stopped at that time; or else where it last got the lock, or was stopped next.
	Stack *Stack `json:"stack"`
}

// Cause is what let an interval end.
type Cause struct {
	Kind       int        `json:"kind"` // index into Info.Interactions
	Thread     ThreadRef  `json:"thread"`
	Time       int64      `json:"time"`
	Latency    int64      `json:"latency"` // from the cause to the effect
	Confidence string     `json:"confidence"`
	Stack      *Stack     `json:"stack"`    // where the cause was, or null
	Interval   *Reference `json:"interval"` // in which the cause happened, or null
	Span       *Span      `json:"span"`     // of that interval, or null
}

// Effect is an interval of another thread that was let go on.
type Effect struct {
	Kind     int       `json:"kind"`
	Time     int64     `json:"time"` // of the cause
	Latency  int64     `json:"latency"`
	Interval Reference `json:"interval"`
}

// Holding is a lock held over a time.
type Holding struct {
	Lock   LockRef   `json:"lock"`
	Thread ThreadRef `json:"thread"`
	From   int64     `json:"from"`
	To     int64     `json:"to"`
	Marks  int       `json:"marks"` // see the Hold constants
}

// The marks of holds.
const (
	HoldSinceBefore = 1 << iota // From is when the owner was first seen; it may have got the lock earlier
	HoldInferred                // To is when the next owner got the lock; this one may have released it earlier
	HoldOpen                    // it goes on
)

// Span names a span of another tool. It is there if thread_span is in the same pipeline and its budget did not fold the interval.
type Span struct {
	TraceID string `json:"trace_id"`
	SpanID  string `json:"span_id"`
	URL     string `json:"url"` // from the template; empty if there is none
}

// Stack is a call stack.
type Stack struct {
	ID     uint32   `json:"id"`     // for GET api/sessions/{session}/stack
	Frames []string `json:"frames"` // innermost first: "com.acme.OrderBook.add(OrderBook.java:42)"
	Caller int      `json:"caller"` // index of the first frame that is not of the waiting itself
}
