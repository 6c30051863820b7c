// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package viewapi

// Flame is the waits for locks, permits and objects of pools as a flame graph: GET api/sessions/{session}/flame. Each lock has two trees of
// frames: the stacks that waited, and what the holders did meanwhile. Both add up to the time of the lock, to the nanosecond, which is the one
// that the tables have.
type Flame struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Baseline is the range that this one is compared to; null: none.
	Baseline *Baseline `json:"baseline"`

	Sum    StateTime   `json:"sum"`    // of all locks
	Before StateTime   `json:"before"` // the same in the baseline
	Total  int         `json:"total"`  // locks
	Locks  []FlameLock `json:"locks"`  // with the most time first

	Names   []string  `json:"names"` // of the methods in the trees
	Waiters FlameTree `json:"waiters"`
	Holders FlameTree `json:"holders"`
	Folded  int       `json:"folded"` // branches and locks that are too small to be seen, in nodes and locks of others
}

// Baseline is the range to which another one is compared.
type Baseline struct {
	Session string  `json:"session"`
	From    int64   `json:"from"` // relative to the origin of that session
	To      int64   `json:"to"`
	Unit    string  `json:"unit"`  // as in Comparison
	Scale   float64 `json:"scale"` // a time of the baseline is to be multiplied by this to be compared to one of the range
}

// FlameLock is what users see as one lock: all locks of one class and name, or a pool.
type FlameLock struct {
	Name    string     `json:"name"`   // in the source: "OrderBook.lock"; or of the pool, or of the class without its package; empty: unknown
	Class   string     `json:"class"`  // empty for a pool, or unknown
	Kind    string     `json:"kind"`   // lock, permit, pool
	Folded  int        `json:"folded"` // 0: this is one lock; otherwise it is the sum of so many others, and has no name
	Sum     StateTime  `json:"sum"`    // of waits that began in the range, and of the time waited in it
	Before  StateTime  `json:"before"`
	Verdict string     `json:"verdict"` // as in WaitChange; empty: there is no baseline
	Longest *Reference `json:"longest"` // wait in the range; null: there is none
}

// FlameTree is trees of frames, one for each lock. Each list has an element for each node, parents first. The nodes next to a lock are the
// innermost frames of the application, or what the holders did; those further away are its callers.
type FlameTree struct {
	Parent []int    `json:"parent"` // index of the node; -1-i for the lock i
	Name   []int    `json:"name"`   // index into Names, or one of the Flame constants, or FlameState minus the state of the holder
	Time   []int64  `json:"time"`
	Count  []int64  `json:"count"`
	Thread []uint64 `json:"thread"` // with the longest wait of the node, or that held the lock for the longest part of a wait; 0: none
	Seq    []uint32 `json:"seq"`    // that interval

	// With a baseline, else empty: the time in it, and the verdict as an index into FlameVerdicts.
	Before  []int64 `json:"before"`
	Verdict []int   `json:"verdict"`
}

// What a node is if it is not a method.
const (
	FlameOthers    = -1  // frames that are too small to be seen
	FlameNoStack   = -2  // the stack was not recorded
	FlameNoHolder  = -3  // the recording does not say who held the lock
	FlameTruncated = -4  // the stack has more frames than were recorded
	FlameTaken     = -5  // the holder ran; the frames below are where it had taken the lock
	FlameState     = -16 // minus the state of the holder, an index into Info.States
)

// FlameVerdicts are the verdicts of nodes.
func FlameVerdicts() []string { return []string{"same", "worse", "better", "new", "gone"} }
