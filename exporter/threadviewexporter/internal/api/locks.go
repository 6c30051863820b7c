// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package api

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
	Blocked  StateTime `json:"blocked"`
	Waited   StateTime `json:"waited"`
	Parked   StateTime `json:"parked"`
	Handoffs int       `json:"handoffs"`
	Held     StateTime `json:"held"`    // as far as contention shows it
	Holders  int       `json:"holders"` // threads that held it
	Waiters  int       `json:"waiters"` // the most threads blocked on it at one time
	Convoy   int       `json:"convoy"`  // handoffs in the longest chain
}

// LockLanes is a picture of locks over a time range: GET api/sessions/{session}/locklanes.
type LockLanes struct {
	From  int64      `json:"from"`
	To    int64      `json:"to"`
	Step  int64      `json:"step"`
	Steps int        `json:"steps"`
	Total int        `json:"total"` // locks that the filter lets through
	Lanes []LockLane `json:"lanes"`

	Threads []ThreadRef `json:"threads"` // that occur in the lanes
}

// LockLane is who held a lock, who queued for it, and how it was handed on.
type LockLane struct {
	Row LockRow `json:"row"`
	// Holds are who held it: in the order of time. Neighbours that are shorter than a step are joined: their Threads is more than one.
	Holds []HoldRun `json:"holds"`
	// Queue says how many threads were blocked on it: pairs of a step and the most threads from that step on, until the next pair.
	Queue []QueueStep `json:"queue"`
	// Handoffs are at most 1 000 of all lanes together; Hidden counts the others.
	Handoffs []Handoff `json:"handoffs"`
	Hidden   int       `json:"hidden"`
	Convoys  []Convoy  `json:"convoys"` // the longest chains of handoffs: some 10
}

// HoldRun is a time for which a lock was held.
type HoldRun struct {
	From    int64  `json:"from"`
	To      int64  `json:"to"`
	Thread  uint64 `json:"thread"`  // the holder; of several the one that held it longest
	Holds   int    `json:"holds"`   // that it stands for
	Threads int    `json:"threads"` // different holders
	Time    int64  `json:"time"`    // for which it was really held
	Marks   int    `json:"marks"`   // see the Hold constants
}

// QueueStep is the length of a queue.
type QueueStep struct {
	Step    int `json:"step"`
	Threads int `json:"threads"`
}

// Handoff is a lock that goes from one thread to another.
type Handoff struct {
	Time int64  `json:"time"`
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
	Wait int64  `json:"wait"` // for how long To had been blocked
}

// Convoy is handoffs in a row, each by the thread that had got the lock by the one before.
type Convoy struct {
	From    int64    `json:"from"`
	To      int64    `json:"to"`
	Length  int      `json:"length"`  // handoffs
	Threads []uint64 `json:"threads"` // the first of them, at most 9
}

// Found is what a search found: GET api/sessions/{session}/search.
type Found struct {
	Query string `json:"query"`
	Hits  []Hit  `json:"hits"`
	More  bool   `json:"more"` // there is more than the limit
}

// Hit is a thread, a class, a lock or a method whose name holds the words.
type Hit struct {
	Kind   string     `json:"kind"` // thread, class, lock, method
	Text   string     `json:"text"`
	Thread *ThreadRef `json:"thread"`
	Lock   *LockRef   `json:"lock"`
	Stack  uint32     `json:"stack"`
	First  *Reference `json:"first"` // where it first occurs, or null
}

// Change is the data of an event of GET api/events (server-sent events, name "change") and the answer of GET api/changes (long poll).
type Change struct {
	Version  uint64          `json:"version"`  // of the store: pass it as since to wait for what comes next
	Sessions []SessionChange `json:"sessions"` // all sessions
	Reset    bool            `json:"reset"`    // sessions have gone: ask for the list again
}

// SessionChange says how far a session is.
type SessionChange struct {
	ID        string `json:"id"`
	Version   uint64 `json:"version"`
	From      int64  `json:"from"`
	To        int64  `json:"to"`
	Live      bool   `json:"live"`
	Deadlocks int    `json:"deadlocks"`
}

// ControlRequest is the body of POST api/sessions/{session}/control, as application/json.
type ControlRequest struct {
	Action  string            `json:"action"`  // pause, resume, options, snapshot
	Options map[string]string `json:"options"` // for options
}

// ControlAnswer is what the agent said.
type ControlAnswer struct {
	Done    bool     `json:"done"`
	Message string   `json:"message"`
	Control *Control `json:"control"`
}
