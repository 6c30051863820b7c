// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Info is what holds for the whole server: GET api/info.
type Info struct {
	Version      string   `json:"version"`
	States       []string `json:"states"`       // names of states; a state elsewhere is an index into this list
	Interactions []string `json:"interactions"` // names of the kinds of interactions; a kind elsewhere is an index into this list
	Control      bool     `json:"control"`      // the control endpoints are there: pause, resume, options
	TraceURL     string   `json:"trace_url"`    // template with {trace_id} and {span_id}; empty: no links to traces
	MaxBytes     int64    `json:"max_bytes"`    // of the store
	Bytes        int64    `json:"bytes"`        // that the store holds now
}

// Sessions is GET api/sessions: live ones first, the newest of them before the others, then those that ended last.
type Sessions struct {
	Total    int       `json:"total"` // that are remembered
	Offset   int       `json:"offset"`
	Sessions []Session `json:"sessions"`
}

// Session is one run of one JVM under one agent: GET api/sessions/{session}.
type Session struct {
	ID      string `json:"id"`      // 32 hexadecimal digits
	Service string `json:"service"` // service.name; empty if the agent was not told
	Host    string `json:"host"`
	PID     int64  `json:"pid"`
	JVM     string `json:"jvm"`     // name and version of the runtime
	Command string `json:"command"` // of the JVM's process, as far as the agent tells it

	Attributes map[string]string `json:"attributes"` // all of the resource

	Origin string `json:"origin"` // decimal nanoseconds since the Unix epoch, at which time 0 is; too large for a JavaScript number
	From   int64  `json:"from"`   // start of what is remembered: 0, or later once old windows had to leave
	To     int64  `json:"to"`     // end of what is known

	Live    bool   `json:"live"`    // more may come
	Ended   string `json:"ended"`   // why it is not live: end, lost, shutdown; empty while it is
	Version uint64 `json:"version"` // rises whenever anything of the session changes

	Threads      int    `json:"threads"`      // that are remembered
	Intervals    int    `json:"intervals"`    // that are remembered
	Interactions int    `json:"interactions"` // that are remembered
	Locks        int    `json:"locks"`
	Events       uint64 `json:"events"`  // that were taken in since the session began
	Lost         uint64 `json:"lost"`    // events that the agent could not keep
	Missed       uint64 `json:"missed"`  // events that never came here
	Bytes        int64  `json:"bytes"`   // of the store
	Evicted      int    `json:"evicted"` // windows that had to leave the store

	Gaps      []Gap      `json:"gaps"`      // at most the 1 000 newest; in a list of sessions 10
	Deadlocks []Deadlock `json:"deadlocks"` // the newest 20
	Control   *Control   `json:"control"`   // null unless the control channel is enabled and the session is connected here
}

// Gap is a window in which events were lost.
type Gap struct {
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Lost   uint64 `json:"lost"`   // the agent could not keep them
	Missed uint64 `json:"missed"` // they never came here
}

// Deadlock is a cycle of threads that wait for each other, and always will.
type Deadlock struct {
	ID      string           `json:"id"`      // weft.deadlock.id
	Since   int64            `json:"since"`   // when the cycle closed
	Members []DeadlockMember `json:"members"` // at most 16
	Text    string           `json:"text"`    // a -> Left -> b -> Right -> a
}

// DeadlockMember is one thread of a cycle: it holds what the one before it wants, and wants Lock, which the next one holds.
type DeadlockMember struct {
	Thread ThreadRef `json:"thread"`
	Lock   LockRef   `json:"lock"`
	Frames []string  `json:"frames"` // where it waits, innermost first, at most 5
}

// Control is how a session's agent can be spoken to.
type Control struct {
	Paused  bool              `json:"paused"`
	Options map[string]string `json:"options"` // that can be changed, and their values
}

// ThreadRef names a thread.
type ThreadRef struct {
	ID   uint64 `json:"id"`
	Name string `json:"name"` // never empty: "thread 7" if it is not known
}

// LockRef names a lock.
type LockRef struct {
	ID    uint32 `json:"id"`    // number within the session, for parameters; 0: no lock is known
	Class string `json:"class"` // fully qualified
	Hash  string `json:"hash"`  // identity hash in hexadecimal digits, as a thread dump of Java shows it
}

// Error is the body of every answer with a status of 400 or more.
type Error struct {
	Error     string `json:"error"`     // one sentence
	Parameter string `json:"parameter"` // that is wrong, or empty
}
