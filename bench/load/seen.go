// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"slices"
	"sync"
	"time"
)

// Seen is what agents saw, from their side of the connections.
type Seen struct {
	mu       sync.Mutex
	events   int // that were sent, or will be
	lost     int // for lack of room, and reported
	acked    int
	refusals int
	waits    []time.Duration // of each batch, from when it was complete to its acknowledgement
	pause    time.Duration   // longest time in which an agent got no acknowledgement although it waited for one
}

func (s *Seen) happen(events int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events += events
}

func (s *Seen) lose(events int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost += events
}

func (s *Seen) refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals++
}

func (s *Seen) acknowledge(events int, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acked += events
	s.waits = append(s.waits, wait)
}

// rest notes that an agent got no acknowledgement for a time although it waited for one.
func (s *Seen) rest(pause time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pause = max(s.pause, pause)
}

// Summary is a state of Seen.
type Summary struct {
	Events, Lost, Acked, Refusals int
	Median, P99, Longest          time.Duration // until a batch was acknowledged
	Pause                         time.Duration // longest time without an acknowledgement for an agent that waited for one
}

// Summary returns the state so far.
func (s *Seen) Summary() Summary {
	s.mu.Lock()
	defer s.mu.Unlock()
	waits := slices.Sorted(slices.Values(s.waits))
	at := func(share float64) time.Duration {
		if len(waits) == 0 {
			return 0
		}
		return waits[min(len(waits)-1, int(share*float64(len(waits))))]
	}
	return Summary{s.events, s.lost, s.acked, s.refusals, at(0.5), at(0.99), at(1), s.pause}
}
