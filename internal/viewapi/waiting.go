// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package viewapi

// Waiting is the threads that wait at a point in time: GET api/sessions/{session}/waiting. Threads without a task are omitted unless idle=true.
type Waiting struct {
	At      int64        `json:"at"`      // the point in time: by default the end of the known history
	Total   int          `json:"total"`   // threads that match
	Blocked int          `json:"blocked"` // of them, those that wait for a lock, a permit or a pooled object, or are deadlocked
	Offset  int          `json:"offset"`
	Rows    []WaitingRow `json:"rows"` // by default those that have waited longest first
}

// WaitingRow is a thread that waits, and who is in its way.
type WaitingRow struct {
	Thread   ThreadRef  `json:"thread"`
	State    int        `json:"state"`    // index into Info.States, as shown, but never idle: a thread parked for a lock is blocked
	Wait     string     `json:"wait"`     // kind: lock, permit, pool, condition, queue, ...; empty: unknown
	Object   string     `json:"object"`   // what it waits for: "OrderBook.lock", "HikariPool"; empty: nothing with a name
	Lock     LockRef    `json:"lock"`     // with ID 0 if it waits for none
	Since    int64      `json:"since"`    // start of the wait
	Time     int64      `json:"time"`     // At - Since
	Method   string     `json:"method"`   // of the application that waits; empty: no stack was taken
	Line     string     `json:"line"`     // "OrderBook.java:42"
	Stack    uint32     `json:"stack"`    // id, for GET api/sessions/{session}/stack; 0: none
	Holder   *ThreadRef `json:"holder"`   // that holds the lock at that moment, or the first of several; null: unknown, or it waits for no lock
	Doing    string     `json:"doing"`    // what the holder does: "asleep in Report.write"; empty: unknown
	Deadlock string     `json:"deadlock"` // weft.deadlock.id; empty: it is in none
}
