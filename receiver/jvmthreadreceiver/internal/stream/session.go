// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
)

// session is one run of a JVM under its agent, across all its connections.
type session struct {
	*outlet.Session

	offset    jvmthread.Time // from the JVM's monotonic clock to the wall clock, according to the session's first hello
	late      bool           // the agent has already sent its threads' states to another receiver, or to this one in an earlier life
	ended     bool           // its end was delivered in an earlier life, and nothing since
	delivered bool           // the next component has a batch of it, or had one in an earlier life of the receiver
	cost      int            // bytes of its resource, which count while it is known
	peer      string         // that it counts for

	turn chan struct{} // has one slot, held by the goroutine that uses the fields above

	// Guarded by sessions.mu.
	proven  bool // by the secret of a hello
	owner   *connection
	over    bool      // removed from the map
	lingers bool      // a goroutine watches lostAt
	lostAt  time.Time // when a session without an owner is lost
	keep    func()    // set while the session is being ended as lost; cancels that if there is still time
}

// Memory of a session and of an attribute of its resource, without their texts.
const (
	perSession   = 2 << 10
	perAttribute = 160
)

func newSession(hello *wire.Hello) *session {
	cost := perSession
	for _, a := range hello.Attributes {
		cost += perAttribute + len(a.Key) + len(a.Value)
	}
	return &session{
		cost:      cost,
		delivered: hello.Acked > 0,
		Session:   outlet.NewSession(hello, symbols.New(symbols.DefaultLimits())),
		offset:    jvmthread.Time(hello.Wall - hello.Monotonic),
		late:      hello.Acked > 0,
		turn:      make(chan struct{}, 1),
	}
}

func (s *session) wallTime(t jvmthread.Time) jvmthread.Time { return t + s.offset }

// leastStep is by how much a wall clock must differ from the one that the session has to replace it: less is the time between two readings.
const leastStep = 100 * time.Millisecond

// setClock notes that the wall clock was set, or that the machine was suspended. Times of the session do not jump, so that events remain in
// order: only what is written has the new time of day.
func (s *session) setClock(frame wire.Frame) error {
	read, err := frame.Clock()
	if err != nil {
		return err
	}
	read.Monotonic = int64(s.wallTime(jvmthread.Time(read.Monotonic)))
	if err := read.Check(); err != nil {
		return invalid(frame, err.Error())
	}
	step := read.Wall - read.Monotonic - (s.Clock.Wall - s.Clock.Monotonic)
	if step < -int64(leastStep) || step > int64(leastStep) {
		s.Clock = read
	}
	return nil
}

func (s *session) seal(h wire.BatchHeader) {
	h.Watermark = s.wallTime(h.Watermark)
	s.Seal(h)
}

// take decodes a batch. If any part of it is invalid, nothing of it is delivered.
func (s *session) take(frame wire.Frame, batch *wire.Batch) error {
	b := s.Begin()
	for batch.More() {
		var err error
		if _, b.Events, err = batch.Section(b.Events); err != nil {
			return err
		}
	}
	if batch.Before > jvmthread.MaxEvents {
		return invalid(frame, fmt.Sprintf("%d events before it, want at most %d", batch.Before, jvmthread.MaxEvents))
	}
	for i := range b.Events {
		ev := &b.Events[i]
		if ev.Time = s.wallTime(ev.Time); ev.Time < 0 { // differences between non-negative times cannot overflow
			return invalid(frame, fmt.Sprintf("event %d is %d ns before 1970", i+1, -uint64(ev.Time)))
		}
		if !s.Definitions.Resolve(&ev.Lock.Class, &ev.Stack) {
			b.Undefined++
		}
	}
	b.Unknown = batch.Skipped()
	s.seal(batch.BatchHeader)
	return nil
}

// takeAggregate makes the sums of an aggregate the batch to deliver.
func (s *session) takeAggregate(a *wire.Aggregate) {
	a.From, a.To = s.wallTime(a.From), s.wallTime(a.To)
	b := s.Begin()
	for i := range a.Series {
		if !s.Definitions.Resolve(&a.Series[i].Class, &a.Series[i].Stack) {
			b.Undefined++
		}
	}
	b.Aggregate = &a.Aggregate
	s.seal(a.BatchHeader)
}

func (c *connection) batch(s *session, frame wire.Frame) error {
	batch, err := frame.Batch()
	if err != nil {
		return err
	}
	if batch.Sequence <= s.Last {
		return c.acknowledgeAgain(batch.Sequence)
	}
	if err := s.follows(frame, batch.Sequence); err != nil {
		return err
	}
	if err := c.depart(frame); err != nil {
		return err
	}
	if err := s.take(frame, &batch); err != nil {
		return err
	}
	return c.deliver(s)
}

// aggregate handles sums, which are numbered and acknowledged like batches.
func (c *connection) aggregate(s *session, frame wire.Frame) error {
	if err := c.depart(frame); err != nil {
		return err
	}
	defer c.arrive()
	var aggregate wire.Aggregate
	skipped, err := frame.Aggregate(&aggregate)
	if err != nil {
		return err
	}
	if aggregate.Before > jvmthread.MaxEvents {
		return invalid(frame, fmt.Sprintf("%d events before it, want at most %d", aggregate.Before, jvmthread.MaxEvents))
	}
	if aggregate.Sequence <= s.Last {
		return c.acknowledgeAgain(aggregate.Sequence)
	}
	if err := s.follows(frame, aggregate.Sequence); err != nil {
		return err
	}
	s.takeAggregate(&aggregate)
	if skipped > 0 {
		outlet.Count(c.sessions.Out.Telemetry.ReceiverJvmThreadSeriesUnknown, int64(skipped))
	}
	return c.deliver(s)
}

func (c *connection) acknowledgeAgain(sequence uint64) error {
	outlet.Count(c.sessions.Out.Telemetry.ReceiverJvmThreadBatchesDuplicate, 1)
	return c.acknowledge(sequence)
}

// deliver sends the current batch downstream and acknowledges it.
func (c *connection) deliver(s *session) error {
	if err := c.sessions.Out.Deliver(c.ctx, s.Session); err != nil {
		return err
	}
	s.delivered, s.ended = true, false
	c.arrive()
	return c.acknowledge(s.Last)
}

func (c *connection) acknowledge(sequence uint64) error {
	c.out = wire.AppendAck(c.out[:0], sequence)
	return c.write(c.out)
}

func invalid(frame wire.Frame, what string) error {
	return &wire.Error{Frame: frame.Number, Byte: frame.Byte, What: frame.Kind.String() + ": " + what}
}
