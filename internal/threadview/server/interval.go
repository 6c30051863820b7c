// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/engine/deadlock"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

const (
	maxEffects = 100
	maxHeld    = 100
	maxFrames  = 256
)

// interval returns the details of one interval.
func (q *query) interval() (any, *Problem) {
	id := q.number("thread", -1, 0, farAway)
	at := q.number("at", farAway, -farAway, farAway)
	seq := q.number("seq", 0, 1, 1<<32-1)
	if p := q.done(); p != nil {
		return nil, p
	}
	if id < 0 {
		return nil, &Problem{http.StatusBadRequest, "thread: required", "thread"}
	}
	thread := q.sn.Thread(jvmthread.ThreadID(id))
	if thread == 0 {
		return nil, &Problem{http.StatusNotFound, "thread: " + strconv.FormatInt(id, 10) + " is not a thread of this session", "thread"}
	}
	var iv store.Interval
	var ok bool
	when := q.sn.Origin + jvmthread.Time(at)
	switch {
	case at != farAway && seq != 0:
		iv, ok = q.sn.Numbered(thread, jvmthread.Seq(seq), when)
	case at != farAway:
		iv, ok = q.sn.At(thread, when)
	case seq != 0:
		iv, ok = q.sn.Latest(thread, jvmthread.Seq(seq))
	default:
		return nil, &Problem{http.StatusBadRequest, "at: want a time, or the number of an interval in seq", "at"}
	}
	if !ok {
		return nil, &Problem{http.StatusNotFound, "at: no data for this thread at this time" + q.before(when), "at"}
	}
	if at == farAway {
		when = iv.Start
	}
	return q.detail(&iv, max(iv.Start, min(when, iv.End-1))), nil
}

func (q *query) detail(iv *store.Interval, when jvmthread.Time) *viewapi.Interval {
	traced := when
	if iv.State == jvmthread.StateDeadlocked { // in windows before, it is still a wait
		traced = max(when, min(iv.Start+deadlock.Grace, iv.End-1))
	}
	out := &viewapi.Interval{
		Thread: q.threadRef(iv.Thread), Seq: uint32(iv.Seq), State: int(iv.Shown()), Title: q.sn.Title(iv), From: q.rel(iv.Start), To: q.rel(iv.End),
		Marks: laneMarks(iv.State, iv.Marks), Timeout: max(0, iv.Timeout), Stack: q.stackOf(iv.Stack), Effects: []viewapi.Effect{}, Held: []viewapi.Holding{},
		Wait: iv.Wait.String(), Site: q.site(iv.Stack), Holders: q.holders(iv), Span: q.span(iv.Thread, iv.Seq, traced),
	}
	if iv.Lock != 0 && !wording.IsActivity(q.sn.Class(iv.Lock)) {
		l := q.lockRef(iv.Lock)
		out.Lock = &l
	}
	if iv.Peer != 0 {
		out.Owner = q.doing(iv.Peer, iv.Start, iv.Lock)
		if s := q.stackOf(q.sn.OwnerStack(iv)); s != nil {
			out.Owner.Stack = s
		}
	}
	if iv.Cycle != 0 {
		out.Deadlock = threadpdata.DeadlockID(q.sn.ID, iv.Cycle)
	}
	q.sn.EdgesTo(iv, func(e store.Edge) bool {
		out.Cause = q.cause(&e)
		out.Why = e.Kind.String()
		return e.Kind == jvmthread.InteractionStart
	})
	if out.Cause == nil || out.Why == jvmthread.InteractionStart.String() && iv.State.Stopped() {
		out.Why = why(iv)
	}
	q.effects(iv, out)
	if before, ok := q.sn.Before(iv); ok {
		out.Prev = q.reference(&before)
	}
	if after, ok := q.sn.After(iv); ok {
		out.Next = q.reference(&after)
	}
	out.Text = q.summary(iv, out)
	return out
}

// why returns what ended an interval without a known cause.
func why(iv *store.Interval) string {
	if !iv.State.Stopped() {
		return ""
	}
	c := window.CauseOf(&jvmthread.Interval{State: iv.State, Marks: iv.Marks, Cycle: iv.Cycle}, nil)
	if c == window.CauseNone {
		return ""
	}
	return c.String()
}

// doing returns what a thread was doing when another began to wait for it, and where it held the lock.
func (q *query) doing(thread int, at jvmthread.Time, lock store.LockIndex) *viewapi.Doing {
	d := &viewapi.Doing{Thread: q.threadRef(thread), Time: q.rel(at)}
	iv, ok := q.sn.At(thread, at)
	if !ok {
		return d
	}
	d.Interval = q.reference(&iv)
	if iv.Stack != 0 {
		d.Stack = q.stackOf(iv.Stack)
		return d
	}
	// It was running. The closest known stack is that of its last wait for this lock or, if there is none, of its next stop.
	if lock != 0 {
		for before, n := iv, 0; n < 64; n++ {
			if before, ok = q.sn.Before(&before); !ok {
				break
			}
			if before.Lock == lock && before.Stack != 0 {
				d.Stack = q.stackOf(before.Stack)
				return d
			}
		}
	}
	if next, ok := q.sn.After(&iv); ok && next.Stack != 0 {
		d.Stack = q.stackOf(next.Stack)
	}
	return d
}

func (q *query) cause(e *store.Edge) *viewapi.Cause {
	c := &viewapi.Cause{
		Kind: int(e.Kind), Thread: q.threadRef(e.From), Time: q.rel(e.Cause), Latency: int64(e.Effect - e.Cause), Confidence: e.Confidence.String(),
		Stack: q.stackOf(e.Stack),
	}
	if from, ok := q.sn.Numbered(e.From, e.FromSeq, e.Cause); ok {
		c.Interval = q.referenceAt(&from, e.Cause)
		c.Span = q.span(e.From, e.FromSeq, e.Cause)
	}
	return c
}

// effects lists the effects of an interval on other threads, and the locks held during it.
func (q *query) effects(iv *store.Interval, out *viewapi.Interval) {
	var last store.StackID
	q.sn.EdgesCaused(iv.Start, iv.End+1, func(e store.Edge) bool {
		if e.From != iv.Thread || e.FromSeq != iv.Seq {
			return true
		}
		if len(out.Effects) >= maxEffects {
			out.More++
			return true
		}
		to, ok := q.sn.Numbered(e.To, e.ToSeq, e.Effect)
		if !ok {
			to = store.Interval{Thread: e.To, Start: e.Effect, End: e.Effect, Seq: e.ToSeq}
		}
		effect := viewapi.Effect{Kind: int(e.Kind), Time: q.rel(e.Cause), Latency: int64(e.Effect - e.Cause), Interval: *q.reference(&to)}
		if e.Stack != last {
			effect.Stack, last = q.stackOf(e.Stack), e.Stack
		}
		out.Effects = append(out.Effects, effect)
		return true
	})
	q.sn.Holds(iv.Start, max(iv.End, iv.Start+1), func(h store.Hold) bool {
		if h.Thread == iv.Thread {
			out.Held = append(out.Held, viewapi.Holding{
				Lock: q.lockRef(h.Lock), Thread: q.threadRef(h.Thread), From: q.rel(h.Start), To: q.rel(h.End), Marks: int(h.Marks),
			})
		}
		return len(out.Held) < maxHeld
	})
}

// summary describes an interval in a sentence or two.
func (q *query) summary(iv *store.Interval, out *viewapi.Interval) string {
	var b strings.Builder
	b.WriteString(out.Thread.Name + ": " + out.Title + " for " + wording.Duration(time.Duration(iv.End-iv.Start)))
	if iv.Marks.Has(jvmthread.MarkOpen) {
		b.WriteString(" and still is")
	}
	if s := out.Site; s != nil && s.Function != "" {
		b.WriteString(" in " + wording.SimpleFunction(s.Function))
		if s.Entry != "" && s.Entry != s.Function {
			b.WriteString(", through " + wording.SimpleFunction(s.Entry))
		}
	}
	if len(out.Holders) > 0 {
		h := &out.Holders[0]
		b.WriteString("; " + wording.Held(iv.Wait, h.Thread.Name, h.Share, h.Text))
	}
	if c := out.Cause; c != nil {
		b.WriteString("; " + jvmthread.InteractionKind(c.Kind).String() + " by " + c.Thread.Name)
		if c.Stack != nil && c.Stack.Caller < len(c.Stack.Frames) {
			b.WriteString(" at " + c.Stack.Frames[c.Stack.Caller])
		}
		if c.Latency > 0 {
			b.WriteString(", " + wording.Duration(time.Duration(c.Latency)) + " before")
		}
		if c.Confidence != jvmthread.ConfidenceExact.String() {
			b.WriteString(" (" + c.Confidence + ")")
		}
	} else if out.Why != "" {
		b.WriteString("; ended by: " + out.Why)
	}
	return b.String()
}

// stack returns a call stack.
func (q *query) stack() (any, *Problem) {
	id := q.number("id", 0, 0, 1<<32-1)
	if p := q.done(); p != nil {
		return nil, p
	}
	if id == 0 || id >= int64(len(q.sn.Stacks)) {
		return nil, &Problem{http.StatusNotFound, "id: unknown stack", "id"}
	}
	return q.stackOf(store.StackID(id)), nil
}

func (q *query) stackOf(id store.StackID) *viewapi.Stack {
	if id == 0 {
		return nil
	}
	text := symbols.Text(q.sn.Stacks[id])
	s := &viewapi.Stack{ID: uint32(id), Frames: []string{}}
	for line := range strings.Lines(text) {
		if len(s.Frames) == maxFrames {
			s.Frames = append(s.Frames, "...")
			break
		}
		s.Frames = append(s.Frames, strings.TrimPrefix(strings.TrimSpace(line), "at "))
	}
	s.Caller = q.sn.Site(id).Frame
	return s
}

// span identifies the span of an interval in thread_span, or of its part at a time.
func (q *query) span(thread int, seq jvmthread.Seq, at jvmthread.Time) *viewapi.Span {
	length := jvmthread.Time(q.view.cfg.TraceWindow)
	if length <= 0 {
		return nil
	}
	since := window.Since(at, length, window.Phase(q.sn.ID, q.view.cfg.TraceWindow))
	start := max(at-since, q.sn.Began(at))
	trace := threadpdata.TraceID(q.sn.ID, start)
	span := threadpdata.SpanID(q.sn.ID, start, jvmthread.IntervalRef{Thread: q.sn.Threads[thread].ID, Seq: seq})
	s := &viewapi.Span{TraceID: hex.EncodeToString(trace[:]), SpanID: hex.EncodeToString(span[:])}
	if t := q.view.cfg.TraceURL; t != "" {
		s.URL = strings.NewReplacer("{trace_id}", s.TraceID, "{span_id}", s.SpanID).Replace(t)
	}
	return s
}
