// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package viewapi

// Incidents is the kept incidents: GET api/sessions/{session}/incidents. Of a range, it is those that overlap it; without a range, also those
// before the kept history.
type Incidents struct {
	Total     int            `json:"total"` // with the filters
	Offset    int            `json:"offset"`
	Most      int            `json:"most"`  // that a session keeps: then the mildest of the older ones are dropped
	Kinds     []IncidentKind `json:"kinds"` // that there are, with all filters but that for kinds
	Incidents []Incident     `json:"incidents"`
}

// IncidentKind adds up the incidents of a kind.
type IncidentKind struct {
	Kind    string `json:"kind"`
	Total   int    `json:"total"`
	Blocked int64  `json:"blocked"`
	Since   int64  `json:"since"` // when the first one began
}

// Incident is an episode of contention, as in the trace of its own that thread_span makes, a potential deadlock, or a lost notify. Its texts do
// not depend on the windows of the session.
type Incident struct {
	From     int64          `json:"from"`
	To       int64          `json:"to"`
	Kind     string         `json:"kind"` // contention, deadlock, pool_exhausted, carriers_starved, lost_notify, potential_deadlock
	Deadlock bool           `json:"deadlock"`
	Open     bool           `json:"open"`     // not over at its end: it lasted for more than a minute, is a deadlock, or the session ended
	Timeline string         `json:"timeline"` // what is kept of the timeline between from and to: whole, part, gone
	Name     string         `json:"name"`     // of the trace: contention OrderBook
	Object   string         `json:"object"`   // what threads waited for: OrderBook
	Text     string         `json:"text"`     // what happened, in a sentence
	Waiters  string         `json:"waiters"`  // how many threads of which names waited: 3 × matcher-*, main
	Blocked  int64          `json:"blocked"`  // for how long threads waited, all together
	Longest  int64          `json:"longest"`  // wait
	Waited   uint64         `json:"waited"`   // number of waits
	Threads  int            `json:"threads"`  // that waited
	TimedOut uint64         `json:"timed_out"`
	Holds    []IncidentPart `json:"holds"` // of what threads waited for: the 3 that cost most; the call of a lost notify; both orders of a potential deadlock
	Waits    []IncidentPart `json:"waits"` // the 5 longest
	Cast     []uint64       `json:"cast"`  // IDs of the threads that took part: the holder that cost most, other holders, then waiters as their waits began; at most 200
	More     int            `json:"more"`  // threads that took part and are not in cast
}

// IncidentPart is a hold or a wait of an incident.
type IncidentPart struct {
	From     int64     `json:"from"`
	To       int64     `json:"to"`
	Thread   ThreadRef `json:"thread"`
	Object   string    `json:"object"`  // what the thread held or waited for
	Blocked  int64     `json:"blocked"` // of a hold: for how long others waited meanwhile, all together
	Text     string    `json:"text"`
	Function string    `json:"function"` // the method of the application in which the thread was; empty: unknown
	Frames   []string  `json:"frames"`   // the innermost 5; empty: unknown
	Request  *Span     `json:"request"`  // that the thread worked on; null: unknown
}
