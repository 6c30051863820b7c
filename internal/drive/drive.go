// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package drive answers: how do the events of a recording become windows? It puts the batches of one session in order and passes them to an
// engine. Sessions of a collector, whose engines share a queue, are driven by package sessions.
//
// It is the only way of a recording into an engine, so that each ends alike: what a thread did last lasts until the time of the end record or of
// the last watermark, whichever is later, since nothing happens in a JVM that hangs.
package drive

import (
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
)

// Session is an engine with a queue. One goroutine owns it.
type Session struct {
	*engine.Engine

	queue  *ordering.Queue
	number uint64 // of the last batch
	before uint64 // events in all batches so far, with those that were lost
}

// New returns a Session that begins. The table has the names of its classes and its stacks; nil: they are not known.
func New(cfg engine.Config, sym *symbols.Table) *Session {
	return &Session{Engine: engine.New(cfg, sym), queue: ordering.New(cfg.Ordering)}
}

// Batch takes events of any threads, in the order of time, and yields the windows that they complete. Lost is the number of events that are missing
// before them. No event before the watermark will follow.
func (s *Session) Batch(events []jvmthread.Event, lost uint64, watermark jvmthread.Time, yield engine.Yield) {
	s.number++
	s.before += lost
	s.Add(ordering.Batch{Number: s.number, Watermark: watermark, Before: s.before, Events: events})
	for i := range events {
		if events[i].Kind != jvmthread.KindGap {
			s.before++
		}
	}
	s.Advance(yield)
}

// Add takes a batch of a source that numbers its batches: do not use it together with Batch. It reports whether the batch was new.
func (s *Session) Add(b ordering.Batch) bool { return s.queue.Add(b) }

// Advance yields the windows that are complete.
func (s *Session) Advance(yield engine.Yield) { s.Push(s.queue.Ready(), s.queue.Watermark(), yield) }

// Close yields the remaining windows. What the threads did last lasted until the given time; jvmthread.NoTime: until the last event or watermark.
func (s *Session) Close(until jvmthread.Time, why window.Cut, yield engine.Yield) {
	rest := s.queue.Rest()
	at := s.queue.Watermark()
	if until != jvmthread.NoTime && until <= jvmthread.Latest {
		at = max(at, until)
	}
	s.Finish(rest, at, why, yield)
}

// Ordering returns the anomalies of the queue.
func (s *Session) Ordering() ordering.Counters { return s.queue.Counters() }
