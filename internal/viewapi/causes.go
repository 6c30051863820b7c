// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package viewapi

// Causes is what threads of the application waited for longest: GET api/sessions/{session}/causes. The first one is that of Answer.
type Causes struct {
	From   int64      `json:"from"`
	To     int64      `json:"to"`
	Step   int64      `json:"step"`  // of Trend, in nanoseconds
	Small  int        `json:"small"` // further ones with less than 10 ms of waiting, or than a hundredth of the range
	Causes []CauseRow `json:"causes"`
}

// CauseRow is one thing that threads waited for: a lock, a pool, a task, a latch, a queue, ...
type CauseRow struct {
	Name      string  `json:"name"`  // with the caller of a lock of the JDK; empty: the sentence describes it
	Class     string  `json:"class"` // of the lock, or empty
	Kind      string  `json:"kind"`  // of the waits: lock, permit, pool, future, latch, ...
	Text      []Part  `json:"text"`  // who waited, for how long, who held it or brought it about
	Time      int64   `json:"time"`  // that threads waited for it
	Threads   int     `json:"threads"`
	Stuck     int     `json:"stuck"`     // waits that no thread can end any more
	Incidents int     `json:"incidents"` // that are kept of it, in the range
	Trend     []int64 `json:"trend"`     // how long threads waited in each step
	Routes    []Route `json:"routes"`    // the names of requests that waited longest, at most 3, none below 1 %; empty: the application reports none

	Dumps *Dumped `json:"dumps,omitempty"` // how many thread dumps show it, if they are all that is known
}

// Route is what requests of one name waited.
type Route struct {
	Name string `json:"name"` // as of their spans; empty: not known
	Time int64  `json:"time"`
}
