// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"fmt"
	"math"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/internal/wire/definitions"
)

// session is one run of a JVM under its agent, over all its connections.
type session struct {
	id          jvmthread.SessionID
	resource    pcommon.Resource
	offset      jvmthread.Time // from the JVM's monotonic clock to the wall clock, as the session's first hello had it
	definitions *definitions.Table
	last        uint64         // the highest batch that is done
	watermark   jvmthread.Time // of that batch
	before      uint64         // events in all batches up to that one
	unknown     uint64         // those of them that were of unknown kinds
	late        bool           // the agent told another receiver, or this one in an earlier life, what its threads were doing

	pending pending // the batch at hand
	held    int     // bytes, as they were told last

	turn chan struct{} // has one place, which the goroutine that uses the fields above has taken

	// Guarded by sessions.mu.
	owner   *connection
	over    bool      // it is not in the map any more
	lingers bool      // a goroutine watches lostAt
	lostAt  time.Time // while there is no owner
	keep    func()    // not nil: the session is being ended as lost; calls that off if it is not too late
}

// pending is a batch on its way to the next component.
type pending struct {
	carrier threadpdata.Carrier // its events are those of a part
	events  []jvmthread.Event
	parts   []part
	peers   []jvmthread.ThreadID            // without a part, to be described
	news    map[jvmthread.ThreadID]struct{} // all that are described for the first time
	unknown uint64
	lost    uint64 // events that its gaps report
	series  int    // of its aggregate
}

// part is a section that has events.
type part struct {
	thread     jvmthread.ThreadID
	start, end int // of its events
}

func newSession(hello *wire.Hello) *session {
	s := &session{
		id:          hello.Session,
		resource:    pcommon.NewResource(),
		offset:      jvmthread.Time(hello.Wall - hello.Monotonic),
		definitions: definitions.New(symbols.New(symbols.DefaultLimits())),
		last:        hello.Acked,
		late:        hello.Acked > 0,
		turn:        make(chan struct{}, 1),
	}
	s.watermark = jvmthread.Time(hello.Wall)
	threadpdata.FillResource(s.resource, hello.Session, hello.PID, func(yield func(string, string) bool) {
		for _, a := range hello.Attributes {
			if !yield(a.Key, a.Value) {
				return
			}
		}
	})
	return s
}

func (s *session) service() string {
	value, _ := s.resource.Attributes().Get("service.name")
	return value.AsString()
}

func (s *session) wallTime(t jvmthread.Time) jvmthread.Time { return t + s.offset }

// take reads a batch. Nothing of it is handed on if there is something wrong with any of it.
func (s *session) take(frame wire.Frame, batch *wire.Batch) error {
	p := &s.pending
	p.clear()
	for batch.More() {
		start := len(p.events)
		thread, events, err := batch.Section(p.events)
		if err != nil {
			return err
		}
		p.events = events
		if len(events) > start {
			p.parts = append(p.parts, part{thread: thread, start: start, end: len(events)})
		}
	}
	if batch.Before > jvmthread.MaxEvents {
		return wrong(frame, fmt.Sprintf("%d events before it, want at most %d", batch.Before, jvmthread.MaxEvents))
	}
	for i := range p.events {
		ev := &p.events[i]
		if ev.Time = s.wallTime(ev.Time); ev.Time < 0 { // differences of times that are not negative are what they should be
			return wrong(frame, fmt.Sprintf("event %d is %d ns before 1970", i+1, -uint64(ev.Time)))
		}
		ev.Lock.Class = s.definitions.Class(ev.Lock.Class)
		ev.Stack = s.definitions.Stack(ev.Stack)
		if ev.Kind == jvmthread.KindGap {
			if ev.Arg < 0 || ev.Arg > jvmthread.MaxLost {
				return wrong(frame, fmt.Sprintf("a gap of %d events, want 0 to %d", ev.Arg, jvmthread.MaxLost))
			}
			p.lost += uint64(ev.Arg)
		}
	}
	s.findNews()
	p.unknown = batch.Skipped()
	s.head(batch.BatchHeader)
	return nil
}

// takeAggregate makes sums the batch at hand.
func (s *session) takeAggregate(a *wire.Aggregate) {
	p := &s.pending
	p.clear()
	a.From, a.To = s.wallTime(a.From), s.wallTime(a.To)
	for i := range a.Series {
		a.Series[i].Class = s.definitions.Class(a.Series[i].Class)
		a.Series[i].Stack = s.definitions.Stack(a.Series[i].Stack)
	}
	p.series = len(a.Series)
	s.head(a.BatchHeader)
	p.carrier.Aggregate = &a.Aggregate
}

// head makes the header of the batch at hand.
func (s *session) head(h wire.BatchHeader) {
	c := &s.pending.carrier
	c.Session, c.Batch, c.Watermark, c.End, c.Aggregate = s.id, h.Sequence, s.wallTime(h.Watermark), "", nil
	c.Before = h.Before - min(h.Before, s.unknown) // what was skipped is not missing for those behind us
}

// findNews finds the threads that the batch at hand describes for the first time: those of its sections, and their peers.
func (s *session) findNews() {
	p := &s.pending
	for _, part := range p.parts {
		if s.definitions.IsNews(part.thread) {
			p.news[part.thread] = struct{}{}
		}
	}
	for i := range p.events {
		peer := p.events[i].Peer
		if peer == jvmthread.NoThread || len(p.parts)+len(p.peers) >= ordering.MaxParts || !s.definitions.IsNews(peer) {
			continue
		}
		if _, twice := p.news[peer]; !twice {
			p.news[peer] = struct{}{}
			p.peers = append(p.peers, peer)
		}
	}
}

// clear keeps memory for a usual batch.
func (p *pending) clear() {
	const many = 1 << 10
	if p.news == nil || len(p.news) > many {
		p.peers, p.news = nil, make(map[jvmthread.ThreadID]struct{})
	}
	clear(p.news)
	p.events, p.parts, p.peers, p.lost, p.unknown = p.events[:0], p.parts[:0], p.peers[:0], 0, 0
	p.series, p.carrier.Aggregate = 0, nil
}

// close makes the end of the session the batch at hand.
func (s *session) close(reason string, at jvmthread.Time) {
	p := &s.pending
	p.clear()
	c := &p.carrier
	c.Session, c.Batch, c.Watermark, c.Before, c.End = s.id, s.last, max(at, s.watermark), s.before, reason
	if c.Batch < math.MaxUint64 {
		c.Batch++
	}
}

// traces builds what goes to the next component.
func (s *session) traces() ptrace.Traces {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	s.resource.CopyTo(resource.Resource())
	scope := resource.ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(scope.Scope())
	p := &s.pending
	c := &p.carrier
	c.Parts = uint32(max(len(p.parts)+len(p.peers), 1))
	c.Part = 0
	scope.Spans().EnsureCapacity(int(c.Parts))
	carry := func(thread jvmthread.Thread, events []jvmthread.Event) {
		c.Thread, c.Events = thread, events
		c.AppendTo(scope.Spans(), s.definitions.Symbols)
		c.Part++
	}
	for _, part := range p.parts {
		carry(s.definitions.Symbols.Thread(part.thread), p.events[part.start:part.end])
	}
	for _, peer := range p.peers {
		carry(s.definitions.Symbols.Thread(peer), nil)
	}
	if c.Part == 0 {
		carry(jvmthread.Thread{}, nil)
	}
	return traces
}

// done is called when the next component is done with the batch at hand.
func (s *session) done() {
	p := &s.pending
	s.last = p.carrier.Batch
	s.watermark = max(s.watermark, p.carrier.Watermark)
	s.before = p.carrier.Before
	s.unknown += p.unknown
	for thread := range p.news {
		s.definitions.Described(thread)
	}
	for i := range p.events {
		switch p.events[i].Kind {
		case jvmthread.KindGap:
			continue
		case jvmthread.KindThreadEnd:
			s.definitions.DropThread(p.events[i].Thread)
		}
		s.before++
	}
	const keep = 1 << 16 // events: what a default frame has room for, twice over
	if cap(p.events) > keep {
		p.events = nil
	}
}

// tellHeld tells how many bytes the session takes.
func (s *session) tellHeld(r *threadReceiver, bytes int) {
	if bytes != s.held {
		count(r.telemetry.ReceiverJvmThreadHeld, int64(bytes-s.held))
		s.held = bytes
	}
}
