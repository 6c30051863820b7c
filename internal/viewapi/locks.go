// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package viewapi

// Locks is the table of locks: GET api/sessions/{session}/locks.
type Locks struct {
	From   int64     `json:"from"`
	To     int64     `json:"to"`
	Total  int       `json:"total"`
	Offset int       `json:"offset"`
	Locks  []LockRow `json:"locks"`
}

// LockRow is one lock over the range.
type LockRow struct {
	Lock     LockRef   `json:"lock"`
	Name     string    `json:"name"` // in the source, where threads waited for it longest: "OrderBook.lock", or of the pool; empty: not known
	Kind     string    `json:"kind"` // of the longest wait: lock, permit, pool; empty: no thread had to wait to get it
	Blocked  StateTime `json:"blocked"`
	Waited   StateTime `json:"waited"`
	Parked   StateTime `json:"parked"`
	Handoffs int       `json:"handoffs"`
	Held     StateTime `json:"held"`    // as far as contention shows it
	Holders  int       `json:"holders"` // different threads that held it
	Waiters  int       `json:"waiters"` // the most threads blocked on it at once
	Convoy   int       `json:"convoy"`  // handoffs in the longest run
}

// LockLanes shows locks over a time range: GET api/sessions/{session}/locklanes.
type LockLanes struct {
	From  int64      `json:"from"`
	To    int64      `json:"to"`
	Step  int64      `json:"step"`
	Steps int        `json:"steps"`
	Total int        `json:"total"` // locks that match the filter
	Lanes []LockLane `json:"lanes"`

	Threads []ThreadRef `json:"threads"` // in the lanes
}

// LockLane shows the holders, the queue and the handoffs of a lock.
type LockLane struct {
	Row LockRow `json:"row"`
	// Namesakes are all listed locks with this name and class, also those that per_name omits.
	Namesakes Namesakes `json:"namesakes"`
	// Holds are in the order of time. Neighbors shorter than a step are joined.
	Holds []HoldRun `json:"holds"`
	// Queue is the most threads blocked on it, from each step until the next.
	Queue []QueueStep `json:"queue"`
	// Handoffs are at most 1 000 in all lanes together; Hidden counts the others.
	Handoffs []Handoff `json:"handoffs"`
	Hidden   int       `json:"hidden"`
	Convoys  []Convoy  `json:"convoys"` // the longest handoff runs, about 10
}

// Holders is the table of holders: GET api/sessions/{session}/holders.
type Holders struct {
	From    int64       `json:"from"`
	To      int64       `json:"to"`
	Total   int         `json:"total"`
	Offset  int         `json:"offset"`
	Holders []HolderRow `json:"holders"`
	Sum     HolderRow   `json:"sum"`
	// Partial: there are too many waits to say of all of them who waited for whom. The sums are exact nevertheless.
	Partial bool `json:"partial"`
}

// What the holder of a row is.
const (
	HolderThread  = "thread"
	HolderPool    = "pool"    // of threads
	HolderOthers  = "others"  // further threads
	HolderUnknown = "unknown" // the recording does not say who held the lock
)

// HolderRow is a lock, one of its holders, and what others waited for it meanwhile. Waits and Time of the rows of a lock add up to its contended
// waits, to the nanosecond: of several holders at a time each has an equal part of the time, and the newest one has the waits that begin.
type HolderRow struct {
	Lock       string     `json:"lock"`        // name in the source: "OrderBook.lock"; else its class, or the pool: "HikariPool"; empty for the sum
	Class      string     `json:"class"`       // of the lock; empty for a pool and the sum
	Kind       string     `json:"kind"`        // lock, permit, pool
	LockID     uint32     `json:"lock_id"`     // if there is only one object; else 0
	Objects    int        `json:"objects"`     // of the name
	What       string     `json:"what"`        // thread, pool, others, unknown; empty for the sum
	Holder     string     `json:"holder"`      // name of the thread, or of the pool: "matcher-*"; else empty
	ID         uint64     `json:"id"`          // of the thread; else 0
	Threads    int        `json:"threads"`     // that held it
	Method     string     `json:"method"`      // in which they were longest while others waited, or had taken the lock; empty: not known
	Doing      string     `json:"doing"`       // what they did longest meanwhile: "asleep in Report.write"; empty: not known
	DoingShare float64    `json:"doing_share"` // of Time: 0 to 1
	Waits      int64      `json:"waits"`       // that began meanwhile
	Time       int64      `json:"time"`        // that others waited meanwhile
	Longest    int64      `json:"longest"`     // longest hold while others waited, within the range
	Waiters    int        `json:"waiters"`     // threads that waited meanwhile
	Who        []string   `json:"who"`         // their pools or names, those with the most threads first: at most 3
	Wait       *Reference `json:"wait"`        // the longest of these waits, or null
}

// Namesakes are the locks of one name.
type Namesakes struct {
	Locks int   `json:"locks"`
	Time  int64 `json:"time"` // that threads were blocked on them
}

// HoldRun is a hold, or several joined ones. Runs do not overlap: of a lock with several holders at once, a run is a time with the same number
// of them, which Holds and Threads are, and Thread is the first of them.
type HoldRun struct {
	From    int64  `json:"from"`
	To      int64  `json:"to"`
	Thread  uint64 `json:"thread"`  // the holder, or the longest of several
	Holds   int    `json:"holds"`   // joined holds
	Threads int    `json:"threads"` // different holders
	Time    int64  `json:"time"`    // within which it was held
	Marks   int    `json:"marks"`   // of jvmthread.HoldMarks; 16: several threads may hold it at once
}

// QueueStep is the length of a queue.
type QueueStep struct {
	Step    int `json:"step"`
	Threads int `json:"threads"`
}

// Handoff passes a lock from one thread to another.
type Handoff struct {
	Time int64  `json:"time"`
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
	Wait int64  `json:"wait"` // how long To had been blocked
}

// Convoy is a handoff run: consecutive handoffs, each by the thread that received the lock in the previous one.
type Convoy struct {
	From    int64    `json:"from"`
	To      int64    `json:"to"`
	Length  int      `json:"length"`  // handoffs
	Threads []uint64 `json:"threads"` // the first ones, at most 9
}

// Found is the result of a search: GET api/sessions/{session}/search.
type Found struct {
	Query string `json:"query"`
	Hits  []Hit  `json:"hits"`
	More  bool   `json:"more"` // there are more than the limit
}

// Hit is a thread, class, lock or method whose name contains the text.
type Hit struct {
	Kind   string     `json:"kind"` // thread, class, lock, method
	Text   string     `json:"text"`
	Thread *ThreadRef `json:"thread"`
	Lock   *LockRef   `json:"lock"`
	Stack  uint32     `json:"stack"`
	First  *Reference `json:"first"` // its first occurrence, or null
}

// Change is the data of an event of GET api/events (server-sent events, name "change") and the answer of GET api/changes (long poll).
type Change struct {
	Version  uint64          `json:"version"`  // of the store: pass it as since to wait for the next change
	Sessions []SessionChange `json:"sessions"` // all sessions
	Reset    bool            `json:"reset"`    // sessions were discarded: request the list again
}

// SessionChange is the state of a session.
type SessionChange struct {
	ID        string `json:"id"`
	Version   uint64 `json:"version"`
	From      int64  `json:"from"`
	To        int64  `json:"to"`
	Live      bool   `json:"live"`
	Deadlocks int    `json:"deadlocks"`
	Ended     int    `json:"ended"` // of the deadlocks
	Incidents int    `json:"incidents"`
}

// ControlRequest is the body of POST api/sessions/{session}/control, as application/json.
type ControlRequest struct {
	Action  string            `json:"action"`  // pause, resume, options, snapshot
	Options map[string]string `json:"options"` // for options
}

// ControlAnswer is the answer of the agent.
type ControlAnswer struct {
	Done    bool     `json:"done"`
	Message string   `json:"message"`
	Control *Control `json:"control"`
}

// Answer is what costs the most, and who held it: GET api/sessions/{session}/answer.
type Answer struct {
	From   int64     `json:"from"`
	To     int64     `json:"to"`
	Time   int64     `json:"time"`   // that threads waited for locks, permits and objects of pools, in total
	Most   *Cost     `json:"most"`   // what threads of the application waited for longest, of all that others hold or bring about; null: for nothing
	Second *Cost     `json:"second"` // the costliest lock, permit or pool, unless it is most, or little compared with that; or null
	Small  bool      `json:"small"`  // most is less than 10 ms, or than a hundredth of the range
	Stuck  int       `json:"stuck"`  // threads that wait at the end of the range, and that no thread can free any more, of those that could
	Pauses Pauses    `json:"pauses"`
	Text   []Part    `json:"text"`  // what most and pauses say, in a sentence or two; or that there is nothing to report
	Costs  []CostRow `json:"costs"` // locks, permits and pools, the costliest first
	Total  int       `json:"total"` // of them
}

// Pauses are the times within the range in which a garbage collection stopped all threads.
type Pauses struct {
	Count   int   `json:"count"`
	Time    int64 `json:"time"`
	Longest int64 `json:"longest"` // pause, with what is outside of the range
}

// Part is a part of a sentence.
type Part struct {
	Text string `json:"text"`
	Role string `json:"role"` // what it names: thread, lock, method, time; empty: nothing
}

// The roles of parts.
const (
	RoleThread = "thread"
	RoleLock   = "lock"
	RoleMethod = "method"
	RoleTime   = "time"
)

// CostRow is the sums of a lock, of the locks of one name, or of a pool.
type CostRow struct {
	Name     string `json:"name"`     // in the source: "OrderBook.lock"; or the class of the lock or of the pool: "HikariPool"
	Caller   string `json:"caller"`   // of a lock of the JDK without a name: the method that waited longest; else empty
	Class    string `json:"class"`    // of the lock, for the parameter class
	Kind     string `json:"kind"`     // lock, permit, pool
	Locks    int    `json:"locks"`    // objects
	Lock     uint32 `json:"lock"`     // if there is only one; else 0
	Time     int64  `json:"time"`     // that threads waited
	Count    int64  `json:"count"`    // waits that began
	Longest  int64  `json:"longest"`  // wait
	Threads  int    `json:"threads"`  // that waited
	Handoffs int    `json:"handoffs"` // of the objects
	Held     int64  `json:"held"`     // longest hold while others waited, within the range
}

// Cost says who waited for what a row is about, and who held it; or, of a future, a latch, a barrier, an exchanger or a full queue, who ended the
// waits: then the holders are these, they held nothing, and did what they did while others waited for them.
type Cost struct {
	CostRow

	Unit    string        `json:"unit"`    // of it that threads waited for: "a connection", "a permit"; empty: for the lock itself
	Waiters int           `json:"waiters"` // threads; the culprit is not among them, unless it is the only one
	Who     []ThreadGroup `json:"who"`     // the waiters by pool, those that waited longest first: at most 3
	Site    *Site         `json:"site"`    // where they waited longest, or null
	Holders []Holder      `json:"holders"` // at most 5, none that others waited for less than a twentieth of the first one's; Doing is the activity with the most waiting
	More    int           `json:"more"`    // holders that are omitted
	Others  []ThreadGroup `json:"others"`  // the holders but the culprit, by pool, those that others waited for longest first: at most 3
	Culprit bool          `json:"culprit"` // the first holder of a lock is the cause
	Turns   *Turns        `json:"turns"`   // null: the first holder is the cause, or only one is known, or none, or unknown is not 0
	Unknown float64       `json:"unknown"` // part of the time that threads waited whose holder is not known, if it is most of it; else 0
	Known   float64       `json:"known"`   // of waits that others end: the part of their time for which it is known who did
	Takes   bool          `json:"takes"`   // the waits at a queue are for something to take from it; else, for room in it
	Running int           `json:"running"` // of Open: whose tasks the holders still run
	Nested  *Nested       `json:"nested"`  // waiters that seem to hold one already; null: there are none
	Pending int64         `json:"pending"` // of Time: of waits that have not ended
	Open    int           `json:"open"`    // waits that have not ended
	Stuck   int           `json:"stuck"`   // of Open: that no thread can end any more, of those that could
	Certain bool          `json:"certain"` // the JVM knows who could end these; else it is learnt from who ended such waits before
	Busy    float64       `json:"busy"`    // part of their time in which the threads of the pool that ended most waits had work; 0: not known
	Queued  float64       `json:"queued"`  // least part of the waits that have ended in which the task had not begun: its worker was busy with others
	Gone    []GoneThread  `json:"gone"`    // threads that could end what is stuck, but have ended, the last ones first: at most 5
	Unable  []ThreadGroup `json:"unable"`  // threads that could end what is stuck, but are stuck themselves, by pool: at most 3
	Back    []ThreadGroup `json:"back"`    // if the only one of these waits for threads that wait for it: these, at most 3; else null
	Itself  bool          `json:"itself"`  // the only one of these waits for itself
	Starved *ThreadGroup  `json:"starved"` // the pool of workers that could end what is stuck, all of which are stuck; null: there is none
	Next    *Cost         `json:"next"`    // what the culprit waited for itself most of that time, with the sums of all threads that did; null: nothing

	Able  []Holder    `json:"able,omitempty"`  // threads that could end waits which have not ended, but do something else for as long: at most 5; Length is for how long
	Vain  *VainNotify `json:"vain,omitempty"`  // of waits for a notify that have not ended: the last call before them, which no thread heard
	Exact bool        `json:"exact,omitempty"` // virtual threads waited whose wake-ups are not recorded: virtual=exact does
	Dumps *Dumped     `json:"dumps,omitempty"` // how many thread dumps show it, if they are all that is known
}

// VainNotify is a call of notify while no thread waited.
type VainNotify struct {
	Thread ThreadRef `json:"thread"`
	At     int64     `json:"at"`
	Method string    `json:"method"` // where: class and method of the application; empty: not known
}

// Nested is threads that wait for another permit or object of a pool, past the call in which others wait for their first one.
type Nested struct {
	Threads int   `json:"threads"`
	Site    *Site `json:"site"` // where they waited longest
}

// Dumped says how many thread dumps show something.
type Dumped struct {
	Taken  int   `json:"taken"`  // dumps in the range
	Waited int   `json:"waited"` // those that show a wait
	Held   int   `json:"held"`   // those that show the first holder
	Over   int64 `json:"over"`   // from the first to the last one of the range

	Meanwhile *Meanwhile `json:"meanwhile,omitempty"` // if others have to end the waits, and no dump says which
}

// Meanwhile is threads that may be those for which others wait, with what they do.
type Meanwhile struct {
	Who  ThreadGroup `json:"who"`
	Text string      `json:"text"` // "asleep in Report.write"
}

// GoneThread is a thread that has ended.
type GoneThread struct {
	Thread ThreadRef `json:"thread"`
	At     int64     `json:"at"`
}

// ThreadGroup is threads whose names differ in numbers only.
type ThreadGroup struct {
	Name    string `json:"name"`    // with a star for each number that differs: "matcher-*"; the name of the only one
	Threads int    `json:"threads"` // in the range
	Time    int64  `json:"time"`    // that they waited, or others for them, all together
}

// Turns is what threads did that held a lock in turn.
type Turns struct {
	Own   bool    `json:"own"`   // all of them waited for it, too
	Text  string  `json:"text"`  // what they did most: "asleep in Report.write"
	Share float64 `json:"share"` // of the time that threads waited meanwhile
}
