// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math"
	"sort"
	"unsafe"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// RequestPart is what one thread did for one request of the application without a break.
type RequestPart struct {
	Start, End jvmthread.Time
	TraceID    [16]byte
	SpanID     [8]byte // the outermost span on the thread; if Whole is false, the first one that was seen
	Thread     int
	Name       uint32 // id of the name in Snapshot.Classes; 0: not known
	Whole      bool   // Start and End are those of the span; otherwise it was first and last seen then
	Open       bool   // it had not ended at End
}

// requestPart is a RequestPart of a block.
type requestPart struct {
	start, end   jvmthread.Time
	trace        [16]byte
	span         [8]byte
	thread, name uint32
	whole, open  bool
}

const requestBytes = int64(unsafe.Sizeof(requestPart{}))

// openRequestBytes is the size of an entry of Session.requests, about.
const openRequestBytes = requestBytes + 40

// maxOpenRequests bounds the threads with a current span. The agent has the same limit.
const maxOpenRequests = 1 << 16

// addRequests follows the spans of the application in the events before a time, and keeps the parts of requests that ended.
func (s *Session) addRequests(b *Block, until jvmthread.Time) {
	for id := range s.pending.sections {
		events := s.pending.sections[id].Events
		events = events[:sort.Search(len(events), func(i int) bool { return events[i].Time >= until })]
		for i := range events {
			s.followRequest(b, uint32(id), &events[i])
		}
	}
}

func (s *Session) followRequest(b *Block, thread uint32, ev *jvmthread.Event) {
	part, ok := s.requests[thread]
	switch {
	case ev.Kind == jvmthread.KindContext:
		if ok && !ev.Span.IsZero() && ev.Span.TraceID == part.trace {
			break // of a span within it
		}
		s.endRequest(b, thread)
		if !ev.Span.IsZero() && len(s.requests) < maxOpenRequests {
			s.requests[thread] = requestPart{start: ev.Time, end: ev.Time, trace: ev.Span.TraceID, span: ev.Span.SpanID, thread: thread}
			s.dictBytes += openRequestBytes
		}
		return
	case !ok:
		return
	case ev.Kind == jvmthread.KindRequestEnd:
		if ev.Arg >= 0 && jvmthread.Time(ev.Arg) <= ev.Time {
			part.start, part.span, part.name, part.whole = ev.Time-jvmthread.Time(ev.Arg), ev.Span.SpanID, uint32(ev.Lock.Class), true
		}
		part.end = ev.Time
		s.requests[thread] = part
		s.endRequest(b, thread)
		return
	case ev.Kind == jvmthread.KindGap || ev.Kind == jvmthread.KindThreadEnd:
		s.endRequest(b, thread)
		return
	}
	part.end = ev.Time
	s.requests[thread] = part
}

// endRequest keeps what a thread did for its current request, if it has one.
func (s *Session) endRequest(b *Block, thread uint32) {
	part, ok := s.requests[thread]
	if !ok {
		return
	}
	delete(s.requests, thread)
	s.dictBytes -= openRequestBytes
	b.requests = append(b.requests, part)
	t := &s.now.Threads[thread]
	t.used = max(t.used, s.next)
}

// openRequests adds the parts of requests that have not ended.
func (s *Session) openRequests(b *Block) {
	for _, part := range s.requests {
		part.end, part.open = max(part.end, s.now.To), true
		b.requests = append(b.requests, part)
	}
	b.finishRequests()
}

// closeRequests adds the last parts of requests to the last block of an engine.
func (s *Session) closeRequests(b *Block) {
	s.addRequests(b, math.MaxInt64)
	s.openRequests(b)
	s.dictBytes -= int64(len(s.requests)) * openRequestBytes
	clear(s.requests)
}

// finishRequests notes what lets a search skip the block.
func (b *Block) finishRequests() {
	b.firstRequest = math.MaxInt64
	for i := range b.requests {
		b.firstRequest = min(b.firstRequest, b.requests[i].start)
	}
	b.requests = exact(b.requests)
}

// Requests yields the parts of requests that overlap [from, to), in no order.
func (sn *Snapshot) Requests(from, to jvmthread.Time, yield func(RequestPart)) {
	for _, b := range sn.blocksFrom(from) {
		if b.firstRequest >= to {
			continue
		}
		for i := range b.requests {
			if p := &b.requests[i]; p.start < to && max(p.end, p.start+1) > from {
				yield(RequestPart{
					Start: p.start, End: p.end, TraceID: p.trace, SpanID: p.span, Thread: int(p.thread), Name: p.name, Whole: p.whole, Open: p.open,
				})
			}
		}
	}
}

// HasRequests reports whether the application has reported a span in the history that is kept.
func (sn *Snapshot) HasRequests() bool {
	for _, b := range sn.blocks {
		if len(b.requests) > 0 {
			return true
		}
	}
	return false
}
