// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package viewapi

// Why says in words what a thread spent a time on: GET api/sessions/{session}/why. It is the bounded critical path (see Path) as a short
// list: the times of the steps and Rest add up to Total.
type Why struct {
	From   int64     `json:"from"`
	To     int64     `json:"to"`
	Thread ThreadRef `json:"thread"`
	Chosen string    `json:"chosen"` // reason for the choice of the thread, see Path
	Total  int64     `json:"total"`  // To - From
	Text   string    `json:"text"`   // "337 ms: 171 ms blocked Inventory.lock, which report held, asleep in Report.write; 166 ms running"
	// Summed states that there are more steps in the order of time than requested. Steps that say the same are then one, and the longest
	// come first.
	Summed bool   `json:"summed"`
	Steps  []Step `json:"steps"`
	Rest   int64  `json:"rest"`   // time of the omitted steps
	Hidden int    `json:"hidden"` // number of omitted steps
}

// Step is what the thread itself did or, while it was stopped, what a thread did that it waited for, directly or not.
type Step struct {
	From   int64     `json:"from"`
	To     int64     `json:"to"`
	Time   int64     `json:"time"`   // within From and To; less than To - From if it was interrupted
	Count  int       `json:"count"`  // pieces of the path
	Thread ThreadRef `json:"thread"` // that the path is on; of a wake-up, the woken one
	Depth  int       `json:"depth"`  // waits that lead from the path's thread to this one; 0: it is the path's thread, or has started it later
	Kind   string    `json:"kind"`   // as in Segment
	Title  string    `json:"title"`  // of the kind: "woken, not running yet"
	Doing  string    `json:"doing"`  // what Thread did: "asleep in Report.write"
	Wait   string    `json:"wait"`   // what Thread waited for: lock, pool, queue, ...; empty: it did not wait
	Object string    `json:"object"` // name of that: "OrderBook.lock"; may be empty
	Lock   LockRef   `json:"lock"`   // with ID 0 if it waited for none
	Method string    `json:"method"` // of the application; empty: unknown, as for a thread that runs
	Line   string    `json:"line"`
	Stack  uint32    `json:"stack"` // id, for GET api/sessions/{session}/stack; 0: none
	// Waits are those that lead from the path's thread to Thread, the first and the last ones: each for the thread of the next one, and
	// the last one for Thread.
	Waits  []StepWait `json:"waits"`
	Hidden int        `json:"hidden"` // waits that are omitted, after the first one
	Text   string     `json:"text"`   // "blocked OrderBook.lock, which report held, asleep in Report.write"
}

// StepWait is a wait that leads to a step.
type StepWait struct {
	Thread ThreadRef  `json:"thread"` // that waited
	Title  string     `json:"title"`  // "blocked OrderBook.lock"
	Wait   string     `json:"wait"`   // kind: lock, join, ...
	Object string     `json:"object"`
	Lock   LockRef    `json:"lock"`
	Method string     `json:"method"` // of the application that waited
	Line   string     `json:"line"`
	Stack  uint32     `json:"stack"`
	Holder *ThreadRef `json:"holder"` // that held the lock meanwhile; null: it waited for something else, or for a lock that no thread held
}
