// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package viewapi answers: what do the page and its server exchange? It holds the JSON of every endpoint, and nothing else; docs/page-api.md lists
// the endpoints and their parameters.
//
// Times are integer nanoseconds since the session's Origin, which fit a JavaScript number exactly for 104 days. Durations are integer
// nanoseconds. Sums are exact. Thread ids are those of Java. Texts (names of threads, classes, methods) come from the JVM and can contain
// anything: treat them as text, not markup. Lists are never null.
package viewapi

// Info describes the server: GET api/info.
type Info struct {
	Version      string    `json:"version"`
	States       []string  `json:"states"`       // names of states; a state elsewhere is an index into this list. The last two, idle and io, are only what lanes show
	Interactions []string  `json:"interactions"` // names of the kinds of interactions; a kind elsewhere is an index into this list
	Control      bool      `json:"control"`      // the control endpoints exist: pause, resume, options
	TraceURL     string    `json:"trace_url"`    // template with {trace_id} and {span_id}; empty: no links to traces
	MaxBytes     int64     `json:"max_bytes"`    // of the store
	Bytes        int64     `json:"bytes"`        // in the store now
	Notice       string    `json:"notice"`       // why there are no sessions, if the configuration is the reason
	Doors        []Door    `json:"doors"`        // where agents connect to this process; empty if sessions come from elsewhere
	Refused      []Refused `json:"refused"`      // the agents and other programs that did not get in, the newest first, at most 20
}

// Door is where agents connect.
type Door struct {
	Endpoint string `json:"endpoint"` // the agent's option, such as tls://collector:4327
	Auth     bool   `json:"auth"`     // agents need credentials
}

// Refused is an agent, or another program, whose connection the receiver refused.
type Refused struct {
	At      int64  `json:"at"`      // the last time, in milliseconds since the Unix epoch
	Remote  string `json:"remote"`  // address
	Service string `json:"service"` // empty: it did not say
	PID     uint32 `json:"pid"`     // 0: it did not say
	Reason  string `json:"reason"`
	Remedy  string `json:"remedy"`
	Times   int    `json:"times"` // how often
}

// Sessions is GET api/sessions: live ones first, the newest first, then the others, the last to end first.
type Sessions struct {
	Total    int       `json:"total"` // in the store
	Offset   int       `json:"offset"`
	Sessions []Session `json:"sessions"`
}

// Session is one run of one JVM under one agent: GET api/sessions/{session}.
type Session struct {
	ID      string `json:"id"`      // 32 hexadecimal digits
	Service string `json:"service"` // service.name; empty if not configured
	Host    string `json:"host"`
	PID     int64  `json:"pid"`
	JVM     string `json:"jvm"`     // name and version of the runtime
	Command string `json:"command"` // of the JVM process, as far as the agent sends it

	Attributes map[string]string `json:"attributes"` // all of the resource

	Origin string `json:"origin"` // time 0 in decimal nanoseconds since the Unix epoch; too large for a JavaScript number
	From   int64  `json:"from"`   // start of the kept history: 0, or later once old windows were evicted
	To     int64  `json:"to"`     // end of the known history

	Live    bool   `json:"live"`    // more may come
	Ended   string `json:"ended"`   // why it ended: end, lost, shutdown, failed (a defect in Weft); empty while it is live
	Version uint64 `json:"version"` // increases with every change of the session

	Threads         int    `json:"threads"`          // in the store
	PlatformThreads int    `json:"platform_threads"` // of them
	Intervals       int    `json:"intervals"`        // in the store
	Interactions    int    `json:"interactions"`     // in the store
	Locks           int    `json:"locks"`
	Events          uint64 `json:"events"`    // received since the session began
	Lost            uint64 `json:"lost"`      // events dropped by the agent
	Missed          uint64 `json:"missed"`    // events lost on the way
	Bytes           int64  `json:"bytes"`     // of the store
	Evicted         int    `json:"evicted"`   // evicted windows
	Incidents       int    `json:"incidents"` // that are kept, also of evicted windows

	Gaps      []Gap      `json:"gaps"`      // at most the 1 000 newest; in a list of sessions 10
	Deadlocks []Deadlock `json:"deadlocks"` // the newest 20
	Control   *Control   `json:"control"`   // null unless the control channel is enabled and the session is connected here
}

// Gap is a window in which events were lost.
type Gap struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Lost   uint64 `json:"lost"`   // dropped by the agent
	Missed uint64 `json:"missed"` // lost on the way
}

// Deadlock is a cycle of threads that wait for each other, forever unless one leaves it: interrupted, or by the end of the thread.
type Deadlock struct {
	ID      string           `json:"id"`      // weft.deadlock.id
	Since   int64            `json:"since"`   // when the cycle closed
	Until   int64            `json:"until"`   // when a thread left it; 0: none has
	Members []DeadlockMember `json:"members"` // at most 16
	Text    string           `json:"text"`    // a -> Left -> b -> Right -> a
}

// DeadlockMember is one thread of a cycle: it waits for Lock, which the next one holds.
type DeadlockMember struct {
	Thread ThreadRef `json:"thread"`
	Lock   LockRef   `json:"lock"`
	Name   string    `json:"name"`   // of the lock in the source; empty: not known
	Frames []string  `json:"frames"` // where it waits, innermost first, at most 5
}

// Control is the state of an agent that can be controlled.
type Control struct {
	Paused  bool              `json:"paused"`
	Options map[string]string `json:"options"` // that can be changed, with their values
}

// ThreadRef refers to a thread.
type ThreadRef struct {
	ID   uint64 `json:"id"`
	Name string `json:"name"` // never empty: "thread 7" if unknown
}

// LockRef refers to a lock.
type LockRef struct {
	ID    uint32 `json:"id"`    // number within the session, for parameters; 0: unknown
	Class string `json:"class"` // fully qualified
	Hash  string `json:"hash"`  // identity hash in hexadecimal digits, as a thread dump of Java shows it
}

// Error is the body of every answer with a status of 400 or more.
type Error struct {
	Error     string `json:"error"`     // one sentence
	Parameter string `json:"parameter"` // the invalid one, or empty
}
