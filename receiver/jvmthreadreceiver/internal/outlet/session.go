// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package outlet

import (
	"math"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/origin"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/internal/wire/definitions"
)

// Session is the state of one run of a JVM under its agent: the last batch delivered, and the one being delivered. One goroutine at a
// time owns it.
//
// To send a batch, call Begin, fill the batch, call Seal and then Outlet.Deliver.
type Session struct {
	ID          jvmthread.SessionID
	Resource    pcommon.Resource
	Definitions *definitions.Table

	first     uint64         // sequence number of the first batch since when this receiver gets all from the JVM; 0: none yet
	delivered uint64         // Last when a batch was last delivered; less than Last if another receiver got some since
	Last      uint64         // sequence number of the last batch delivered
	Watermark jvmthread.Time // of that batch
	Before    uint64         // events of known kinds in all batches up to that one
	unknown   uint64         // events of unknown kinds in the same batches

	Clock wire.Clock // the wall clock at a time of the session; zero: it was not set since the hello

	Batch Batch
}

// Batch is a batch on its way to the next component.
type Batch struct {
	Events    []jvmthread.Event // grouped by thread
	Aggregate *jvmthread.Aggregate
	Unknown   uint64 // events of unknown kinds, which were skipped
	Undefined uint64 // events and series that refer to a class or stack without a definition

	// Seal fills the following.
	threads []jvmthread.ThreadID            // to describe
	news    map[jvmthread.ThreadID]struct{} // the same
	lost    uint64                          // events lost in the gaps of the batch
	unowned uint64                          // events with FlagOwnerUnknown
	carrier threadpdata.Carrier
	lent    *[]jvmthread.Event // where Events is from, if it is from spare
}

// NewSession returns the session that a hello opens. Its texts are interned in sym.
func NewSession(hello *wire.Hello, sym *symbols.Table) *Session {
	s := &Session{
		ID: hello.Session, Resource: pcommon.NewResource(), Definitions: definitions.New(sym),
		Last: hello.Acked, Watermark: jvmthread.Time(hello.Wall),
	}
	threadpdata.FillResource(s.Resource, hello.Session, hello.PID, hello.Attributes)
	return s
}

// Service returns the service.name of the JVM.
func (s *Session) Service() string { return threadpdata.ServiceName(s.Resource) }

// Begin empties the batch and returns it. Memory for a typical batch is kept.
func (s *Session) Begin() *Batch {
	const many = 1 << 10
	b := &s.Batch
	if b.news == nil || len(b.news) > many {
		b.threads, b.news, b.carrier.Threads = nil, make(map[jvmthread.ThreadID]struct{}), nil
	}
	if b.Events == nil {
		if b.lent, _ = spare.Get().(*[]jvmthread.Event); b.lent != nil {
			b.Events = *b.lent
		}
	}
	clear(b.news)
	b.Events, b.threads, b.Aggregate = b.Events[:0], b.threads[:0], nil
	b.Unknown, b.Undefined, b.lost, b.unowned = 0, 0, 0, 0
	return b
}

// Seal completes the batch with a header whose watermark is wall-clock time.
func (s *Session) Seal(h wire.BatchHeader) {
	s.inspect(h.Watermark)
	c := &s.Batch.carrier
	c.Session, c.Batch, c.Watermark, c.End, c.Aggregate = s.ID, h.Sequence, h.Watermark, "", s.Batch.Aggregate
	c.First, c.Clock = s.begin(), s.Clock
	c.Before = h.Before - min(h.Before, s.unknown) // downstream components must not take skipped events for missing ones
}

// End makes the end of the session the batch to deliver.
func (s *Session) End(reason string, at jvmthread.Time) {
	s.Begin()
	c := &s.Batch.carrier
	c.Session, c.Batch, c.Watermark, c.Before, c.End, c.Aggregate = s.ID, s.Last, max(at, s.Watermark), s.Before, reason, nil
	c.First, c.Clock = s.begin(), s.Clock
	if c.Batch < math.MaxUint64 {
		c.Batch++
	}
}

// begin returns the first batch since when the session is here. Earlier ones were acknowledged by another receiver, or an earlier life of this one.
func (s *Session) begin() uint64 {
	if s.first == 0 || s.Last > s.delivered {
		s.first = s.Last + 1
	}
	return s.first
}

// inspect finds the threads that the batch must describe, those of its events and their peers, and adds up its gaps and missing owners.
func (s *Session) inspect(watermark jvmthread.Time) {
	b := &s.Batch
	last := jvmthread.NoThread
	for i := range b.Events {
		ev := &b.Events[i]
		if ev.Kind == jvmthread.KindGap && ev.Arg > 0 {
			b.lost += uint64(min(ev.Arg, jvmthread.MaxLost))
		}
		if ev.Flags&jvmthread.FlagOwnerUnknown != 0 {
			b.unowned++
		}
		if ev.Thread != last {
			s.describe(ev.Thread, watermark)
			last = ev.Thread
		}
		if ev.Peer != jvmthread.NoThread {
			s.describe(ev.Peer, watermark)
		}
	}
}

// describe adds a thread to those that the batch describes, unless that was done lately.
func (s *Session) describe(thread jvmthread.ThreadID, watermark jvmthread.Time) {
	if !s.Definitions.IsNews(thread, watermark) {
		return
	}
	b := &s.Batch
	if _, twice := b.news[thread]; !twice {
		b.news[thread] = struct{}{}
		b.threads = append(b.threads, thread)
	}
}

// Traces returns the batch as a carrier, signed if there are keys.
func (s *Session) Traces(keys *origin.Keys) ptrace.Traces {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	s.Resource.CopyTo(resource.Resource())
	scope := resource.ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(scope.Scope())
	b, sym := &s.Batch, s.Definitions.Symbols
	c := &b.carrier
	c.Events, c.Threads = b.Events, c.Threads[:0]
	for _, thread := range b.threads {
		c.Threads = append(c.Threads, sym.Thread(thread))
	}
	c.AppendTo(scope.Spans(), sym)
	keys.Sign(scope.Spans().At(0))
	return traces
}

// commit records that the batch was delivered.
func (s *Session) commit() {
	b := &s.Batch
	s.Last, s.delivered = b.carrier.Batch, b.carrier.Batch
	s.Watermark = max(s.Watermark, b.carrier.Watermark)
	s.Before = b.carrier.Before
	s.unknown += b.Unknown
	for _, thread := range b.threads {
		s.Definitions.Described(thread, b.carrier.Watermark)
	}
	for i := range b.Events {
		switch b.Events[i].Kind {
		case jvmthread.KindGap:
			continue
		case jvmthread.KindThreadEnd:
			s.Definitions.DropThread(b.Events[i].Thread)
		}
		s.Before++
	}
	b.recycle()
}

// spare has the memory of batches that no session uses. All sessions share it, since most of the time most JVMs send nothing.
//
//nolint:gochecknoglobals // a cache
var spare sync.Pool

// recycle lets other sessions use the memory of the batch's events.
func (b *Batch) recycle() {
	const keep = 1 << 16 // events: twice what a frame of the default size holds
	if cap(b.Events) > 0 && cap(b.Events) <= keep {
		if b.lent == nil {
			b.lent = new([]jvmthread.Event)
		}
		*b.lent = b.Events[:0]
		spare.Put(b.lent)
	}
	b.Events, b.lent, b.carrier.Events = nil, nil, nil
}
