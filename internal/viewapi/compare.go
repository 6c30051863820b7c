// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package viewapi

// Comparison is what threads waited for more, and what less, than in another range: GET api/sessions/{session}/compare. Waits are the same if
// their kind, the name of what threads waited for and the method that waited are the same, so that sessions of different processes and versions
// can be compared. Sleeps and the waits of threads without a task are omitted.
type Comparison struct {
	From    int64  `json:"from"`
	To      int64  `json:"to"`
	Session string `json:"session"` // to which it is compared
	// BeforeFrom and BeforeTo are the other range, relative to the origin of that session.
	BeforeFrom int64 `json:"before_from"`
	BeforeTo   int64 `json:"before_to"`

	Unit    string       `json:"unit"` // of the rates: second, or request if the number of requests is given for both ranges
	Total   int          `json:"total"`
	Offset  int          `json:"offset"`
	Changes []WaitChange `json:"changes"` // by default by the size of the difference
	Same    int          `json:"same"`    // of all Total changes, those with this verdict
	Sum     WaitChange   `json:"sum"`     // of all Total changes
}

// WaitChange is the waits of one kind, for one thing, in one method, in both ranges.
type WaitChange struct {
	Kind     string `json:"kind"`     // of the wait: lock, permit, pool, condition, queue, ...; empty for the sum
	Object   string `json:"object"`   // "OrderBook.lock", "HikariPool"; empty: it has no name
	Function string `json:"function"` // class and method of the application that waits; empty: unknown

	// Verdict is same, worse, better, new (there were no such waits before) or gone. A difference that may be chance, or that is less than a
	// hundredth of the time of all waits, is same.
	Verdict    string    `json:"verdict"`
	Before     StateTime `json:"before"`
	After      StateTime `json:"after"`
	BeforeRate float64   `json:"before_rate"` // nanoseconds of waits per Unit
	AfterRate  float64   `json:"after_rate"`
	Difference float64   `json:"difference"` // AfterRate - BeforeRate

	Class         string     `json:"class"`          // of the lock of the longest of these waits, in the range if there is one, else before
	Longest       *Reference `json:"longest"`        // wait in the range; null: there is none
	BeforeLongest *Reference `json:"before_longest"` // wait in the other range; null: there is none
}
