// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import "time"

// Summary is what the traces of a run say. Durations are nanoseconds in JSON. Lists are sorted, what matters most first.
type Summary struct {
	Services      []string      `json:"services"`
	Recordings    []Recording   `json:"recordings,omitempty"` // that were read, and not traces
	Sessions      int           `json:"sessions"`
	Windows       int           `json:"windows"`
	Aggregates    int           `json:"aggregates,omitempty"` // sums of agents in aggregated mode, each of some seconds
	Cuts          []Cut         `json:"cuts"`                 // why windows ended
	Start         time.Time     `json:"start"`
	End           time.Time     `json:"end"`
	Spans         int64         `json:"spans"`
	Events        int64         `json:"events"`
	EventsLost    int64         `json:"events_lost"`   // the agent could not keep them
	EventsMissed  int64         `json:"events_missed"` // lost on the way, or sent before the collector took part
	FoldedCount   int64         `json:"folded_count"`  // intervals without a span of their own
	FoldedTime    time.Duration `json:"folded_time"`
	FoldedThreads int64         `json:"folded_threads"` // threads without a span of their own, added up over windows
	States        []State       `json:"states"`
	Deadlocks     []Deadlock    `json:"deadlocks"`
	Locks         []Lock        `json:"locks"`
	Chain         *Chain        `json:"longest_chain,omitempty"`
	Threads       []Thread      `json:"threads"`
	Longest       []Blocked     `json:"longest_blocked"` // at most maxLongest
}

// Recording is a session that was read from a recording.
type Recording struct {
	Format     string   `json:"format"`
	Thresholds []string `json:"thresholds,omitempty"` // what is shorter is not in it
}

// Cut counts windows that ended for the same reason.
type Cut struct {
	Reason  string `json:"reason"`
	Windows int    `json:"windows"`
}

// State is how often and how long threads were in a state.
type State struct {
	Name  string        `json:"name"`
	Count int64         `json:"count"`
	Time  time.Duration `json:"time"`
}

// Lock adds up all locks of one class. Contention and waiting are apart: a thread that is blocked wants to go on, one that waits has nothing
// to do.
type Lock struct {
	Class       string        `json:"class"`
	Contentions int64         `json:"contentions"`
	Handoffs    int64         `json:"handoffs"`
	Blocked     time.Duration `json:"blocked_time"`
	BlockedMax  time.Duration `json:"blocked_max"`
	Waiters     int64         `json:"waiters"` // the most threads blocked on one lock at one time
	Holds       int64         `json:"holds"`   // those that others waited for
	Held        time.Duration `json:"held_time"`
	HeldMax     time.Duration `json:"held_max"`
	Waits       int64         `json:"waits"`
	Waited      time.Duration `json:"waited_time"`
}

// Mean is the mean time of a contention, zero if there was none.
func (l Lock) Mean() time.Duration { return mean(l.Blocked, l.Contentions) }

// Chain is a row of handoffs, each by the thread that got the lock by the one before.
type Chain struct {
	Class   string        `json:"class"`
	Length  int64         `json:"length"`
	Time    time.Duration `json:"time"`
	Threads string        `json:"threads"` // the first of them: a -> b -> c
	Service string        `json:"service"`
	At      time.Time     `json:"at"` // start of the window
	TraceID string        `json:"trace_id"`
}

// Thread adds up all threads of one name in one session: workers that are started again and again are one row.
type Thread struct {
	Name    string        `json:"name"`
	Service string        `json:"service"`
	Threads int           `json:"threads"`
	Blocks  int64         `json:"blocked_count"`
	Blocked time.Duration `json:"blocked_time"`
	Waits   int64         `json:"waiting_count"`
	Waited  time.Duration `json:"waiting_time"`
	Time    time.Duration `json:"time"` // in any state
}

// Deadlock is a cycle of threads that wait for each other, and always will.
type Deadlock struct {
	ID      string    `json:"id"`
	Threads string    `json:"threads"` // a -> Left -> b -> Right -> a
	Since   time.Time `json:"since"`
	Service string    `json:"service"`
	TraceID string    `json:"trace_id"`
}

// Blocked is one time of being blocked, also over several windows.
type Blocked struct {
	Thread   string        `json:"thread"`
	Class    string        `json:"class"`
	Time     time.Duration `json:"time"`     // up to the end of the last window in which it was seen
	Owner    string        `json:"owner"`    // the thread that held the lock when this one came; if it is not known, who handed it over
	Function string        `json:"function"` // where this one came
	Service  string        `json:"service"`
	At       time.Time     `json:"at"`
	TraceID  string        `json:"trace_id"` // of its last piece
}

func mean(sum time.Duration, count int64) time.Duration {
	if count == 0 {
		return 0
	}
	return sum / time.Duration(count)
}
