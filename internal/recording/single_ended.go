// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"maps"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// CompleteWaits returns a Sink that completes the single-ended waits of a recording (Session.SingleEnded) and passes on the rest unchanged.
//
// In such a recording the end of a wait is one event: waited, when the monitor is owned again, or waitReturned or joinEnd. The missing event
// is added at the same time or, if the thread blocks on a monitor before it returns, at the time of that. See docs/adr/013.
func CompleteWaits(next Sink) Sink { return &waitSink{Sink: next} }

type waitSink struct {
	Sink

	active bool
	waits  WaitCompleter
}

func (s *waitSink) Session(session *Session) error {
	s.active, s.waits = session.SingleEnded, WaitCompleter{}
	return s.Sink.Session(session)
}

func (s *waitSink) Batch(b *Batch) error {
	if !s.active {
		return s.Sink.Batch(b)
	}
	complete := *b
	s.waits.Complete(&complete)
	return s.Sink.Batch(&complete)
}

// WaitCompleter completes the single-ended waits of one session, batch by batch.
type WaitCompleter struct {
	open      map[jvmthread.ThreadID]openWait
	watermark jvmthread.Time
	events    []jvmthread.Event
}

// openWait is a wait whose end is not known yet.
type openWait struct {
	since     jvmthread.Time
	joined    jvmthread.ThreadID
	suspended bool
}

// Complete replaces the events of a batch. They are valid until the next call.
func (c *WaitCompleter) Complete(b *Batch) {
	if b.Lost > 0 { // at the watermark: the engine no longer knows what the threads were doing before
		maps.DeleteFunc(c.open, func(_ jvmthread.ThreadID, w openWait) bool { return w.since < c.watermark })
	}
	c.events, c.watermark = c.events[:0], b.Watermark
	for i := range b.Events {
		c.add(&b.Events[i])
	}
	b.Events = c.events
}

// add appends an event, and before or after it the one that is missing.
func (c *WaitCompleter) add(ev *jvmthread.Event) {
	w, waits := c.open[ev.Thread]
	switch ev.Kind {
	case jvmthread.KindWait, jvmthread.KindJoinStart:
		c.begin(ev.Thread, openWait{since: ev.Time, joined: ev.Peer})
	case jvmthread.KindWaited:
		delete(c.open, ev.Thread)
		waited, returned := *ev, *ev
		waited.Flags |= jvmthread.FlagLateNotify
		returned.Kind, returned.Peer, returned.Flags = jvmthread.KindWaitReturned, w.joined, ev.Flags&^jvmthread.FlagTimedOut
		if w.joined != jvmthread.NoThread {
			returned.Kind = jvmthread.KindJoinEnd
		}
		c.events = append(c.events, waited, returned)
		return
	case jvmthread.KindContendedEnter, jvmthread.KindWaitReturned, jvmthread.KindJoinEnd:
		delete(c.open, ev.Thread)
		if waits && !w.suspended {
			c.events = append(c.events, jvmthread.Event{
				Kind: jvmthread.KindWaited, Time: ev.Time, Thread: ev.Thread, Lock: ev.Lock, Flags: jvmthread.FlagLateNotify,
			})
		}
	case jvmthread.KindSuspend, jvmthread.KindResume:
		delete(c.open, ev.Thread)
		if w, waits = c.open[ev.Peer]; waits {
			w.suspended = ev.Kind == jvmthread.KindSuspend
			c.open[ev.Peer] = w
		}
	case jvmthread.KindInterrupted, jvmthread.KindMount, jvmthread.KindUnmount, jvmthread.KindContext, jvmthread.KindOwnerStack, jvmthread.KindCPU,
		jvmthread.KindRunQueue, jvmthread.KindOwnerContext, jvmthread.KindRequestEnd:
	default: // the thread no longer waits
		delete(c.open, ev.Thread)
	}
	c.events = append(c.events, *ev)
}

func (c *WaitCompleter) begin(thread jvmthread.ThreadID, w openWait) {
	if c.open == nil {
		c.open = make(map[jvmthread.ThreadID]openWait)
	}
	if len(c.open) >= MaxThreads {
		clear(c.open)
	}
	c.open[thread] = w
}
