// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package summary answers: where did the threads of a run lose time? It reads the traces of windows as OTLP JSON, one object per line, and
// adds up the totals on their root and thread spans: the hottest locks, the waits, the most blocked threads and the longest handoff chain.
// Recordings are turned into the same traces first.
//
// Sums are exact, because a window's totals include the intervals that have no span, and a repeated window is counted once. State spans show
// the rest: the names of locks, who held them, and the longest waits, which always have a span. Critical paths are not used.
//
// Package contention is not used, because its sums need every interval, while traces have folded most of them into these totals.
package summary

import (
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Summary is the sums of a run. Durations are nanoseconds in JSON. Lists are sorted, the most important entries first.
type Summary struct {
	Headline      string        `json:"headline"` // the cause of the most expensive waits, in words
	Services      []string      `json:"services"`
	Recordings    []Recording   `json:"recordings,omitempty"` // sources that were recordings, not traces
	Sessions      int           `json:"sessions"`
	Windows       int           `json:"windows"`
	Aggregates    int           `json:"aggregates,omitempty"` // sums of agents in aggregated mode, each of some seconds
	Cuts          []Cut         `json:"cuts"`                 // why windows ended
	Start         time.Time     `json:"start"`
	End           time.Time     `json:"end"`
	Spans         int64         `json:"spans"`
	Events        int64         `json:"events"`
	EventsLost    int64         `json:"events_lost"`   // in the agent
	EventsMissed  int64         `json:"events_missed"` // lost in transit, or sent before the collector joined
	FoldedCount   int64         `json:"folded_count"`  // intervals without a span
	FoldedTime    time.Duration `json:"folded_time"`
	FoldedThreads int64         `json:"folded_threads"` // threads without a span, added up over windows
	States        []State       `json:"states"`
	Deadlocks     []Deadlock    `json:"deadlocks"`
	Locks         []Lock        `json:"locks"`
	Objects       []Object      `json:"objects"` // what the spans of contended waits were for; at most maxObjects
	Waits         []Waits       `json:"waits"`
	Chain         *Chain        `json:"longest_chain,omitempty"`
	Threads       []Thread      `json:"threads"`
	Longest       []Blocked     `json:"longest_blocked"` // at most maxLongest
}

// Recording is a session read from a recording.
type Recording struct {
	Format     string   `json:"format"`
	Thresholds []string `json:"thresholds,omitempty"` // shorter events are not recorded
}

// Cut is the number of windows that ended for one reason.
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

// Lock is the sums of all locks, permits or pools of one class. Contention and waiting are separate: a blocked thread has work to do, one
// in Object.wait has none. Whatever the state of the thread, a contended wait counts as blocked.
type Lock struct {
	Class       string        `json:"class"`
	Kind        string        `json:"kind,omitempty"` // lock, permit or pool; empty: no thread was blocked
	Name        string        `json:"name,omitempty"` // in the source, if all waits that have a span are for the same
	Contentions int64         `json:"contentions"`
	Handoffs    int64         `json:"handoffs"`
	Blocked     time.Duration `json:"blocked_time"`
	BlockedMax  time.Duration `json:"blocked_max"`
	Waiters     int64         `json:"waiters"` // most threads blocked on one lock at the same time
	Holds       int64         `json:"holds"`   // that other threads waited for
	Held        time.Duration `json:"held_time"`
	HeldMax     time.Duration `json:"held_max"`
	Waits       int64         `json:"waits"`
	Waited      time.Duration `json:"waited_time"`
	Folded      int64         `json:"folded_count"` // contentions without a span
	FoldedTime  time.Duration `json:"folded_time"`
	Holders     States        `json:"-"` // parts of Held, by the state of the holder
}

// States is time by jvmthread.State.
type States [jvmthread.NumStates]time.Duration

// Object is all locks with one name in the source, or all of a class; or a semaphore, or a pool. Its sums are those of the waits that have a
// span.
type Object struct {
	Name        string        `json:"name"`
	Caller      string        `json:"caller,omitempty"` // of the lock, if its name is not known and its class is one of the JDK
	Class       string        `json:"class"`
	Kind        string        `json:"kind"`
	Entry       string        `json:"entry,omitempty"` // the library's method through which threads waited
	Site        string        `json:"function"`        // of the application, where threads waited longest
	Threads     int           `json:"threads"`         // that waited
	Contentions int64         `json:"contentions"`
	Blocked     time.Duration `json:"blocked_time"`
	Holders     []Holder      `json:"holders"` // at most maxHolders
}

// Holder is a thread that held what others waited for.
type Holder struct {
	Thread   string        `json:"thread"`
	Share    float64       `json:"share"`     // of the waits' time, from 0 to 1. Holders of permits and of objects of a pool overlap
	Held     time.Duration `json:"held_time"` // at least, as one other thread that waited saw it
	State    string        `json:"state"`     // longest
	Function string        `json:"function"`  // in that state, if known
}

// Waits are all waits of a kind.
type Waits struct {
	Kind      string        `json:"kind"`
	Contended bool          `json:"contended"`
	Count     int64         `json:"count"`
	Time      time.Duration `json:"time"`
	Site      string        `json:"function,omitempty"` // with most time, of the waits that have a span
	Entry     string        `json:"entry,omitempty"`
	Idle      bool          `json:"idle"` // the threads had no task
}

// Chain is consecutive handoffs of one lock, each by the thread that received the lock in the previous one.
type Chain struct {
	Class   string        `json:"class"`
	Length  int64         `json:"length"`
	Time    time.Duration `json:"time"`
	Threads string        `json:"threads"` // the first threads: a -> b -> c
	Service string        `json:"service"`
	At      time.Time     `json:"at"` // start of the window
	TraceID string        `json:"trace_id"`
}

// Thread is the sums of all threads with the same name in one session, so that short-lived workers share a row, or of a group of virtual
// threads, see contention.VirtualGroup: spans do not say where a thread was started.
type Thread struct {
	Name    string        `json:"name"`
	Virtual bool          `json:"virtual,omitempty"`
	Service string        `json:"service"`
	Threads int           `json:"threads"`
	Blocks  int64         `json:"blocked_count"` // contended waits
	Blocked time.Duration `json:"blocked_time"`
	Waits   int64         `json:"waiting_count"`
	Waited  time.Duration `json:"waiting_time"`
	Time    time.Duration `json:"time"` // in any state
}

// Deadlock is a cycle of threads that wait for each other forever.
type Deadlock struct {
	ID      string    `json:"id"`
	Threads string    `json:"threads"` // a -> Left -> b -> Right -> a
	Since   time.Time `json:"since"`
	Service string    `json:"service"`
	TraceID string    `json:"trace_id"`
}

// Blocked is one contended wait; it may span several windows.
type Blocked struct {
	Thread   string        `json:"thread"`
	Class    string        `json:"class"`
	Kind     string        `json:"kind"`
	Name     string        `json:"name"`     // of the lock, pool, or semaphore: in the source, else its class
	Time     time.Duration `json:"time"`     // up to the end of the last window that contains it
	Owner    string        `json:"owner"`    // the thread that held the lock at the start; if unknown, the one that handed it over
	Function string        `json:"function"` // of the application, that waited
	Entry    string        `json:"entry,omitempty"`
	Holder   Holder        `json:"holder"` // the thread that held it longest, in the last window
	Holders  string        `json:"holders,omitempty"`
	Service  string        `json:"service"`
	At       time.Time     `json:"at"`
	TraceID  string        `json:"trace_id"` // of the last window
}

// mean returns 0 if the count is 0.
func mean(sum time.Duration, count int64) time.Duration {
	if count == 0 {
		return 0
	}
	return sum / time.Duration(count)
}
