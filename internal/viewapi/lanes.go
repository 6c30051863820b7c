// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package viewapi

// Lanes shows threads over a time range: GET api/sessions/{session}/lanes.
type Lanes struct {
	From int64 `json:"from"` // requested range
	To   int64 `json:"to"`
	// Step is the length of one step. It is (To-From)/width rounded up, or a multiple of that if the answer would be too large otherwise.
	Step  int64 `json:"step"`
	Steps int   `json:"steps"` // of the range; the last one may end after To

	Version uint64 `json:"version"` // of the session
	Total   int    `json:"total"`   // threads that match the filter
	Offset  int    `json:"offset"`  // of the first lane among them
	Lanes   []Lane `json:"lanes"`
}

// Lane is one thread. Run i takes Width[i] steps, from left to right without gaps: the widths add up to Steps.
//
// Threads parked for a lock, a permit or an object of a pool are shown as blocked, those that wait for a task or its time as idle, and those
// that read, write or wait for a process as io. Code[i] describes what to paint:
//
//	bits 0-3   the state that takes most of the run (index into Info.States); 15: the thread does not exist
//	bits 4-7   the state that takes most of the rest; 15: there is no rest
//	bits 8-11  how much of the run the first state takes: 0 (none) to 15 (all)
//	bits 12-19 marks, of everything in the run (see the Mark constants)
//
// A run of one interval has no rest and a share of 15. Intervals shorter than a step share it with others.
type Lane struct {
	Thread Thread `json:"thread"`
	Width  []int  `json:"width"`
	Code   []int  `json:"code"`
	// Labels are the titles of waits, see Interval, in runs of one interval that have room for a text.
	Labels []RunLabel `json:"labels"`
}

// RunLabel is what the thread did in a run: "blocked OrderBook", "reading from 10.0.0.7:5432".
type RunLabel struct {
	Run  int    `json:"run"` // index into Width
	Text string `json:"text"`
}

// NoState is the code for no thread, or no rest.
const NoState = 15

// The marks of runs.
const (
	MarkTimedOut    = 1 << iota // a wait timed out
	MarkInterrupted             // a wait was interrupted
	MarkOpen                    // the state has not ended
	MarkPartial                 // history begins within the state
	MarkDeadlocked              // a thread is deadlocked here
	MarkStopped                 // the thread is blocked, deadlocked or reentering here
	MarkMixed                   // more than one interval
	MarkUnknown                 // history is missing here
)

// Thread is a thread without its sums.
type Thread struct {
	ID      uint64 `json:"id"`
	Name    string `json:"name"`
	Group   string `json:"group"` // thread group; empty if unknown
	Pool    string `json:"pool"`  // the name with a star for each number if other threads share it: "http-nio-exec-*", "worker"; otherwise empty
	Daemon  bool   `json:"daemon"`
	JVM     bool   `json:"jvm"` // one of the JVM's own, by its group or name: compiler, reference handler, signal dispatcher, ...
	Virtual bool   `json:"virtual"`
	// VirtualGroup is the name of the group of a virtual thread, see VirtualGroup; empty for a platform thread.
	VirtualGroup string `json:"virtual_group"`

	From int64 `json:"from"` // when it began, or was first seen
	To   int64 `json:"to"`   // when it ended, or the end of the session
	Dead bool  `json:"dead"` // it has ended
}

// Minimap is an overview of the session: GET api/sessions/{session}/minimap.
type Minimap struct {
	From  int64 `json:"from"`
	To    int64 `json:"to"`
	Step  int64 `json:"step"`
	Steps int   `json:"steps"`
	// Time[s][i] is the total time of all selected threads in state s within step i. It is empty for states that do not occur. As in lanes,
	// threads parked for a lock, a permit or an object of a pool are blocked, those without a task idle, and those in I/O io.
	Time [][]int64 `json:"time"`
}

// Arrows are the interactions of a time range: GET api/sessions/{session}/interactions.
type Arrows struct {
	From    int64       `json:"from"`
	To      int64       `json:"to"`
	Kinds   []ArrowKind `json:"kinds"` // one for each index into Info.Interactions
	Arrows  []Arrow     `json:"arrows"`
	Threads []ThreadRef `json:"threads"` // the ends of the arrows
	Virtual []Members   `json:"virtual"` // those of Threads that are virtual, by group
	Calls   []Call      `json:"calls"`   // notifies that woke no thread; none if the range has too many events
}

// Call is a notify or notifyAll that woke no thread.
type Call struct {
	Kind   int    `json:"kind"` // index into Info.Interactions
	Thread uint64 `json:"thread"`
	Time   int64  `json:"time"`
}

// ArrowKind counts the interactions of a kind.
type ArrowKind struct {
	Total  int `json:"total"`  // between selected threads, with the effect in the range
	Hidden int `json:"hidden"` // not in the list, which has those with the longest latency in each part of the range
}

// Arrow is an interaction: From unblocked To.
type Arrow struct {
	Kind       int     `json:"kind"`       // index into Info.Interactions
	From       uint64  `json:"from"`       // thread of the cause
	FromTime   int64   `json:"from_time"`  // of the cause
	To         uint64  `json:"to"`         // thread that was unblocked
	ToTime     int64   `json:"to_time"`    // time of the effect, not before FromTime
	ToStart    int64   `json:"to_start"`   // when its wait had begun
	Lock       LockRef `json:"lock"`       // id 0: none
	Confidence string  `json:"confidence"` // exact, fifo, inferred, ambiguous
}

// Interval is the details of one interval: GET api/sessions/{session}/interval.
type Interval struct {
	Thread ThreadRef `json:"thread"`
	Seq    uint32    `json:"seq"`   // number of the interval within its thread, from 1
	State  int       `json:"state"` // index into Info.States, as lanes show it
	Title  string    `json:"title"` // what the thread did: "blocked OrderBook", "join worker-3"
	From   int64     `json:"from"`
	To     int64     `json:"to"` // end so far, if it is open
	Marks  int       `json:"marks"`

	Timeout int64      `json:"timeout"`  // of the wait, in ns; 0: none
	Wait    string     `json:"wait"`     // what the thread waits for: lock, permit, pool, condition, ...; empty: it does not wait
	Lock    *LockRef   `json:"lock"`     // or null
	Site    *Site      `json:"site"`     // which code of the application waits; null without a stack
	Stack   *Stack     `json:"stack"`    // where the thread stopped, or null
	Holders []Holder   `json:"holders"`  // of contended waits, the longest first: held by means the first
	Owner   *Doing     `json:"owner"`    // the owner of the lock or the joined thread at the start, and what it was doing; or null
	Cause   *Cause     `json:"cause"`    // what ended the wait, or null
	Why     string     `json:"why"`      // what ended it: handoff, notify, ..., timeout, deadlock, unknown; empty while it is open
	Effects []Effect   `json:"effects"`  // at most 100
	More    int        `json:"more"`     // effects that are omitted
	Held    []Holding  `json:"held"`     // locks held during it, as far as contention shows them
	Text    string     `json:"text"`     // a summary in a sentence or two
	Span    *Span      `json:"span"`     // its span in thread_span, or null
	Prev    *Reference `json:"previous"` // of the same thread, or null
	Next    *Reference `json:"next"`     // of the same thread, or null

	Deadlock string `json:"deadlock"` // id, or empty
}

// Site is the code that waits.
type Site struct {
	Function string `json:"function"` // class and method of the first frame of the application; empty: not known
	Line     string `json:"line"`     // "OrderBook.java:42"
	Entry    string `json:"entry"`    // class and method of the library through which it waits; empty: it waits itself
	Lock     string `json:"lock"`     // what the source calls the lock: "Inventory.lock"; empty: not known
}

// Holder is a thread that held what another thread waited for.
type Holder struct {
	Thread ThreadRef  `json:"thread"`
	Time   int64      `json:"time"`   // for which it held the lock while others waited; 0: only an owner is known, not for how long
	Waited int64      `json:"waited"` // sum of the waits of all these in that time; for a single wait, the same as Time
	Share  float64    `json:"share"`  // of the time that threads waited, 0 to 1. Holders of permits and of objects of a pool overlap
	Doing  *Reference `json:"doing"`  // what it did longest meanwhile, or null
	Text   string     `json:"text"`   // the same in words: "asleep in Report.write"; empty: not known
	Method string     `json:"method"` // where: class and method of the application; empty: not known
	Part   float64    `json:"part"`   // of Waited, in which it did that: 0 to 1
	Length int64      `json:"length"` // of Time, in which it did that
	Stack  *Stack     `json:"stack"`  // where, or null
}

// Reference refers to an interval.
type Reference struct {
	Thread ThreadRef `json:"thread"`
	Seq    uint32    `json:"seq"`
	Time   int64     `json:"time"` // a time within it, for the parameter at
	State  int       `json:"state"`
	Title  string    `json:"title"`
}

// Doing is what a thread was doing at a time.
type Doing struct {
	Thread   ThreadRef  `json:"thread"`
	Time     int64      `json:"time"`
	Interval *Reference `json:"interval"` // null if unknown
	// Stack is where the lock was held: the stack of the owner that the agent took when the wait began or, failing that, the owner's stack of its
	// own wait at that time, of its last wait for the lock, or of its next wait.
	Stack *Stack `json:"stack"`
}

// Cause is what ended an interval.
type Cause struct {
	Kind       int        `json:"kind"` // index into Info.Interactions
	Thread     ThreadRef  `json:"thread"`
	Time       int64      `json:"time"`
	Latency    int64      `json:"latency"` // from the cause to the effect
	Confidence string     `json:"confidence"`
	Stack      *Stack     `json:"stack"`    // of the cause, or null
	Interval   *Reference `json:"interval"` // of the cause, or null
	Span       *Span      `json:"span"`     // of that interval, or null
}

// Effect is an interval of another thread that was ended.
type Effect struct {
	Kind     int       `json:"kind"`
	Time     int64     `json:"time"` // of the cause
	Latency  int64     `json:"latency"`
	Stack    *Stack    `json:"stack"` // of the cause, or null; null, too, if it is that of the effect before
	Interval Reference `json:"interval"`
}

// Holding is a lock held for a time.
type Holding struct {
	Lock   LockRef   `json:"lock"`
	Thread ThreadRef `json:"thread"`
	From   int64     `json:"from"`
	To     int64     `json:"to"`
	Marks  int       `json:"marks"` // see the Hold constants
}

// The marks of holds.
const (
	HoldSinceBefore = 1 << iota // From is when the owner was first seen; it may have acquired the lock earlier
	HoldInferred                // To is when the next owner acquired the lock; this one may have released it earlier
	HoldOpen                    // the lock is still held
	_                           // of the engine
	HoldShared                  // of one of several permits, or of an object of a pool: such holds of a lock overlap
)

// Span identifies a span in another tool. It exists if thread_span gets the same events and did not fold the interval.
type Span struct {
	TraceID string `json:"trace_id"`
	SpanID  string `json:"span_id"`
	URL     string `json:"url"` // from the template; empty without one
}

// Stack is a call stack.
type Stack struct {
	ID uint32 `json:"id"` // for GET api/sessions/{session}/stack
	// Frames are the innermost first: "com.acme.OrderBook.add(OrderBook.java:42)". After the frame that waits for a lock, "- lock OrderBook.lock"
	// is what the source calls the lock.
	Frames []string `json:"frames"`
	Caller int      `json:"caller"` // index of the first frame that is not part of the wait itself
}
