// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package viewapi

// Requests is the requests of the application that overlap a range: GET api/sessions/{session}/requests. A request is what all threads did for one
// trace. Only requests that waited are known, and each is counted whole, also before and after the range.
type Requests struct {
	Known    bool          `json:"known"`  // the agent has reported spans of the application in the kept history
	Total    int           `json:"total"`  // requests with one of the wanted names
	Offset   int           `json:"offset"` // of the first one listed
	Names    []RequestName `json:"names"`  // of all requests of the range, those that waited longest first: at most 100
	Hidden   int           `json:"hidden"` // further names
	Requests []Request     `json:"requests"`
}

// RequestName sums up the requests of a name.
type RequestName struct {
	Name   string        `json:"name"` // such as the route; empty: not known
	Count  int           `json:"count"`
	Time   int64         `json:"time"`   // from the start to the end of each request, all together
	P50    int64         `json:"p50"`    // of the requests, half took at most this long
	P95    int64         `json:"p95"`    // 95 % took at most this long
	Max    int64         `json:"max"`    // the longest
	Waited int64         `json:"waited"` // in which at least one thread of the request waited, all together
	Share  float64       `json:"share"`  // of Time
	Cause  *RequestCause `json:"cause"`  // for what they waited longest; null: they did not wait
	Held   *RequestCause `json:"held"`   // for what others held: the longest; null: they did not wait for such
}

// RequestCause is what requests waited for.
type RequestCause struct {
	Title string       `json:"title"` // blocked Inventory.lock; sleep in Payment.call
	Wait  string       `json:"wait"`  // kind
	Count int          `json:"count"` // waits
	Time  int64        `json:"time"`  // of the waits, all together; threads of one request may wait at the same time
	Worst *RequestWait `json:"worst"` // the longest of the waits
}

// Request is one request.
type Request struct {
	TraceID string        `json:"trace_id"`
	SpanID  string        `json:"span_id"` // of the thread that began first
	URL     string        `json:"url"`     // of the trace; empty: not configured
	Name    string        `json:"name"`    // empty: not known
	From    int64         `json:"from"`
	To      int64         `json:"to"`
	Time    int64         `json:"time"`    // from From to To
	Open    bool          `json:"open"`    // it had not ended at To
	Whole   bool          `json:"whole"`   // From and To are those of its spans; otherwise it was first and last seen then
	Touched int           `json:"touched"` // number of threads that worked on it
	Threads []ThreadRef   `json:"threads"` // of these, those that began first: at most 20
	Waited  int64         `json:"waited"`  // in which at least one of the threads waited
	Share   float64       `json:"share"`   // of Time
	Kinds   []RequestKind `json:"kinds"`   // of waits, the longest first
	Worst   *RequestWait  `json:"worst"`   // the longest wait; null: none is known
}

// RequestKind sums up the waits of a kind.
type RequestKind struct {
	Wait  string `json:"wait"`
	Count int    `json:"count"`
	Time  int64  `json:"time"` // of all threads: those that wait at the same time count each
}

// RequestWait is a wait of a request.
type RequestWait struct {
	Interval Reference  `json:"interval"`
	Wait     string     `json:"wait"`   // kind
	Object   string     `json:"object"` // what it was for: the lock by its name in the source; may be empty
	Method   string     `json:"method"` // of the application that waited; empty: unknown
	Time     int64      `json:"time"`
	Holder   *Holder    `json:"holder"`   // who held it longest meanwhile, without a stack; null: none, or not known
	EndedBy  *ThreadRef `json:"ended_by"` // without a holder: the thread that ended the wait, such as the one with the result; null: none, or not known
}
