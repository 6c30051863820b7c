// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"cmp"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// piece is what a span says of a thread at a time: a state, or a part of it, or one of the events around states.
type piece struct {
	start, end       jvmthread.Time
	began, waitBegan jvmthread.Time // in an earlier window, or in an earlier state
	thread, peer     jvmthread.ThreadID
	timeout          int64 // CPU time of a state in which the thread ran
	runQueue         int64 // the time that it waited for a processor then
	latency          int64
	window           *span
	more             *more
	holder           string
	lock             jvmthread.LockID
	link             pcommon.SpanID // of the thread that ended the state; of a call: of the thread that called
	cycle            pcommon.SpanID // of the thread that it waits for in a deadlock
	stack            jvmthread.StackID
	kind             pieceKind
	state            jvmthread.State
	call             jvmthread.Kind
	linked           linkKind

	exact, direct                                                                     bool // of the link; of the call: its thread is known
	continues, deadlocked, open, partial, timedOut, interrupted, pinned, hasCPU, took bool
}

// more is what few waits have.
type more struct {
	ownerStack            jvmthread.StackID
	context, ownerContext jvmthread.SpanContext
}

type pieceKind uint8

// The kinds in the order in which those of one time happen.
const (
	threadBegins pieceKind = iota
	inState
	called
	threadEnds
)

// linkKind is how a state was ended, as far as it is not seen from the events of the state.
type linkKind uint8

const (
	noLink linkKind = iota
	startLink
	handoffLink
	notifyLink
	joinLink
	interruptLink
	unparkLink
)

// links reads the links of a span whose effect was at a time, and holds back the calls that they imply.
func (s *session) links(sh *threadpdata.Shown, effect jvmthread.Time, p *piece) {
	for i := range sh.Links {
		l := &sh.Links[i]
		var kind linkKind
		call := jvmthread.KindNone
		switch l.Kind {
		case "start":
			kind, call, effect = startLink, jvmthread.KindStartCalled, sh.Start
		case "handoff":
			kind = handoffLink
			if sh.State == jvmthread.StateParked && l.Exact {
				call = jvmthread.KindUnpark
			}
		case "notify":
			kind, call = notifyLink, jvmthread.KindNotify
		case "notify_all":
			kind, call = notifyLink, jvmthread.KindNotifyAll
		case "join":
			kind = joinLink
		case "interrupt":
			kind, call = interruptLink, jvmthread.KindInterruptCalled
		case "unpark":
			kind, call = unparkLink, jvmthread.KindUnpark
		case "deadlock":
			if p != nil {
				p.cycle = l.SpanID
			}
			continue
		default:
			continue
		}
		if p != nil && p.linked == noLink {
			p.linked, p.link, p.exact, p.latency = kind, l.SpanID, l.Exact, l.Latency
		}
		if at := effect - jvmthread.Time(l.Latency); call != jvmthread.KindNone && l.Latency >= 0 && at >= 0 {
			c := piece{kind: called, start: at, peer: sh.Thread.ID, call: call, link: l.SpanID, latency: l.Latency}
			if p != nil {
				c.lock = p.lock
			}
			s.hold(&c)
		}
	}
}

// before orders pieces by time. A call whose effect is at the same time comes before it.
func before(a, b *piece) int {
	if a.start != b.start {
		return cmp.Compare(a.start, b.start)
	}
	return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.end, b.end))
}

func (p *piece) rank() int {
	switch {
	case p.kind == called && p.latency == 0 && !p.direct:
		return -1
	case p.kind == called && p.call == jvmthread.KindStartCalled:
		return -1
	}
	return int(p.kind)
}

// releaseHalf passes on the older half of what is held back.
func (s *session) releaseHalf() {
	s.sort()
	middle := s.pieces[len(s.pieces)/2].start
	if middle == s.pieces[0].start { // of one time
		middle++
	}
	s.release(middle)
}

func (s *session) sort() {
	if !slices.IsSortedFunc(s.pieces, func(a, b piece) int { return before(&a, &b) }) {
		slices.SortStableFunc(s.pieces, func(a, b piece) int { return before(&a, &b) })
	}
}

// pieceBatch is after how many pieces their events are passed on.
const pieceBatch = 8192

// release passes on what happened before a time. None of it may follow.
func (s *session) release(until jvmthread.Time) {
	s.sort()
	n, _ := slices.BinarySearchFunc(s.pieces, until, func(p piece, t jvmthread.Time) int { return cmp.Compare(p.start, t) })
	if n == 0 && (until != math.MaxInt64 || len(s.events) == 0 && len(s.active) == 0) {
		return
	}
	s.announce()
	s.resolve()
	for done := 0; done < n && s.Err() == nil; {
		part := s.pieces[done:min(n, done+pieceBatch)]
		done += len(part)
		for i := range part {
			s.take(&part[i])
		}
		if done < n {
			s.pass(s.pieces[done].start)
		}
	}
	s.pass(until)
	s.held -= n
	s.pieces = append(s.pieces[:0], s.pieces[n:]...)
	s.older, s.ids = s.ids, make(map[pcommon.SpanID]jvmthread.ThreadID)
	for id, w := range s.windows {
		if w.end != jvmthread.NoTime && w.end < until {
			delete(s.windows, id)
		}
	}
}

// resolve finds who owned the lock of a wait if a link at its end says so and a name does not: the next thread of a deadlock, or the thread
// that handed the lock over.
func (s *session) resolve() {
	clear(s.owners)
	for i := range s.pieces {
		p := &s.pieces[i]
		var owner jvmthread.ThreadID
		switch {
		case p.kind != inState:
		case p.cycle != pcommon.SpanID{}:
			owner = s.target(p.cycle)
		case p.holder != "" && p.linked == handoffLink && s.byName[p.holder].only() == jvmthread.NoThread:
			if th := s.threads[s.target(p.link)]; th != nil && p.holder == th.shown() {
				owner = th.def.ID
			}
		}
		if owner != jvmthread.NoThread {
			s.owners[waitKey{p.thread, p.waitBegan}] = owner
		}
	}
}

// target returns the thread of a span, or NoThread.
func (s *session) target(id pcommon.SpanID) jvmthread.ThreadID {
	if th, ok := s.ids[id]; ok {
		return th
	}
	return s.older[id]
}

// take turns a piece into events.
func (s *session) take(p *piece) {
	switch p.kind { //exhaustive:enforce
	case threadBegins:
		if th := s.threads[p.thread]; p.window.began(p.start) && th.fresh() {
			th.begins = p.start
			s.list(th)
		}
	case inState:
		s.state(s.threads[p.thread], p)
	case called:
		s.call(p)
	case threadEnds:
		if th := s.threads[p.thread]; p.window.ended(p.start) {
			s.finished(th, p.start)
		}
	}
}

const batchEvents = 8192

// pass passes on the events before a time.
func (s *session) pass(until jvmthread.Time) {
	s.settle(until)
	slices.SortStableFunc(s.events, func(a, b jvmthread.Event) int { return cmp.Compare(a.Time, b.Time) })
	n, _ := slices.BinarySearchFunc(s.events, until, func(ev jvmthread.Event, t jvmthread.Time) int { return cmp.Compare(ev.Time, t) })
	if until == math.MaxInt64 {
		n = len(s.events)
	}
	ends := until == math.MaxInt64 && s.last > s.floor
	for rest := s.events[:n]; s.Err() == nil && (len(rest) > 0 || len(s.news) > 0 || ends); {
		k := min(len(rest), batchEvents)
		b := recording.Batch{Threads: s.news, Events: rest[:k], Watermark: s.floor}
		rest, ends = rest[k:], false
		switch {
		case len(rest) > 0:
			b.Watermark = rest[0].Time
		case until != math.MaxInt64:
			b.Watermark = until
		default: // waits may be open up to then
			b.Watermark = s.last
			if k > 0 {
				b.Watermark = max(s.last, b.Events[k-1].Time)
			}
		}
		b.Watermark = max(b.Watermark, 0)
		for i := range b.Threads {
			s.Options.Symbols.SetThread(b.Threads[i])
		}
		s.Batch(&b)
		s.news = s.news[:0]
	}
	s.events = append(s.events[:0], s.events[n:]...)
	s.floor = max(s.floor, until)
}

// settle ends the states that ended before a time, and in which no further span continues.
func (s *session) settle(until jvmthread.Time) {
	kept := s.active[:0]
	for _, th := range s.active {
		if th.begins != jvmthread.NoTime && th.begins < until {
			s.start(th, th.begins)
		}
		if th.has && !th.now.open && !th.now.deadlocked && th.now.end < until {
			s.closeState(th, nil)
		}
		if th.listed = th.has || th.begins != jvmthread.NoTime; th.listed {
			kept = append(kept, th)
		}
	}
	clear(s.active[len(kept):])
	s.active = kept
}
