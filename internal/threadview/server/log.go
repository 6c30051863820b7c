// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// whats are the actions in the log.
func whats() []string {
	return []string{
		"start", "wait", "notify", "notifyAll", "handoff", "join", "interrupt", "unpark", "block", "sleep", "park", "end", "timeout", "deadlock",
		"suspend", "resume", "stop", "yield",
	}
}

var whatOfKind = [jvmthread.NumInteractionKinds]string{
	jvmthread.InteractionStart: "start", jvmthread.InteractionHandoff: "handoff", jvmthread.InteractionNotify: "notify",
	jvmthread.InteractionNotifyAll: "notifyAll", jvmthread.InteractionInterrupt: "interrupt", jvmthread.InteractionJoin: "end",
	jvmthread.InteractionUnpark: "unpark",
}

var whatOfState = [jvmthread.NumStates]string{
	jvmthread.StateBlocked: "block", jvmthread.StateWaiting: "wait", jvmthread.StateJoining: "join", jvmthread.StateSleeping: "sleep",
	jvmthread.StateParked: "park", jvmthread.StateDeadlocked: "deadlock",
}

// firstSlice is the first span of time that is searched for lines. Each further one is twice as long, until there are enough lines.
const firstSlice = 1 << 20

// maxPassed bounds the lines with the same time that a cursor skips.
const maxPassed = 100_000

// log returns lines of the log.
func (q *query) log() (any, *Problem) {
	sel := q.selected()
	l := logger{q: q, sel: sel, text: strings.ToLower(q.text("q")), since: make(map[int]jvmthread.Time)}
	for _, i := range q.words("what", whats()) {
		l.whats = append(l.whats, whats()[i])
	}
	cursor := q.text("cursor")
	q.paged(200, 1000)
	skip := 0
	from := q.from
	if cursor != "" {
		at, n, ok := strings.Cut(cursor, "+")
		time, err1 := strconv.ParseInt(at, 10, 64)
		passed, err2 := strconv.Atoi(n)
		if !ok || err1 != nil || err2 != nil || passed < 0 || passed > maxPassed {
			q.fail("cursor", "invalid; use one from an answer")
		}
		from, skip = max(from, q.sn.Origin+jvmthread.Time(time)), passed
	}
	if p := q.done(); p != nil {
		return nil, p
	}
	out := viewapi.Log{From: q.rel(q.from), To: q.rel(q.to), Lines: []viewapi.Triple{}}
	length := jvmthread.Time(firstSlice)
	for at := from; at < q.to && len(out.Lines) <= q.page.limit+skip; length *= 2 {
		end := min(at+length, q.to)
		if length <= 0 {
			end = q.to
		}
		out.Lines = append(out.Lines, l.lines(at, end)...)
		at = end
	}
	out.Lines = out.Lines[min(skip, len(out.Lines)):]
	if len(out.Lines) > q.page.limit {
		next := out.Lines[q.page.limit].Time
		out.Lines = out.Lines[:q.page.limit]
		same := 0
		for i := len(out.Lines) - 1; i >= 0 && out.Lines[i].Time == next; i-- {
			same++
		}
		if same == len(out.Lines) && q.sn.Origin+jvmthread.Time(next) == from {
			same += skip
		}
		out.Cursor = strconv.FormatInt(next, 10) + "+" + strconv.Itoa(same)
	}
	return out, nil
}

// logger makes lines.
type logger struct {
	q     *query
	sel   selection
	whats []string // wanted actions; none: all
	text  string   // a line must contain it
	out   []viewapi.Triple
	since map[int]jvmthread.Time // since when each thread has been active; noTime: unknown
	calls calls
}

// lines returns the lines of a span of time.
func (l *logger) lines(from, to jvmthread.Time) []viewapi.Triple {
	l.out = nil
	sn := l.q.sn
	clear(l.calls.bound)
	sn.EdgesCaused(from, to, func(e store.Edge) bool {
		l.calls.bind(&e)
		if l.sel.has[e.From] || l.sel.has[e.To] {
			t := l.line(e.Cause, e.From, whatOfKind[e.Kind], e.Lock, e.ToSeq)
			t.Target = l.q.threadRef(e.To)
			l.add(t)
		}
		return true
	})
	l.addCalls(from, to)
	for _, i := range l.sel.list {
		c := sn.Walk(i, from-1, to) // a wait can time out at from
		for c.Next() {
			if c.Start >= from && whatOfState[c.State] != "" {
				iv := c.Interval()
				l.wait(&iv)
			}
			if c.Marks.Has(jvmthread.MarkTimedOut) && c.End >= from && c.End < to {
				iv := c.Interval()
				l.add(l.line(iv.End, i, "timeout", iv.Lock, iv.Seq))
			}
			if since := activeFrom(c.State, c.Start, c.End); since != 0 {
				l.since[i] = since
			}
		}
		if t := &sn.Threads[i]; t.Dead && t.Last >= from && t.Last < to {
			l.add(l.line(t.Last, i, "end", 0, 0))
		}
	}
	slices.SortStableFunc(l.out, func(a, b viewapi.Triple) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Thread.ID, b.Thread.ID), cmp.Compare(a.What, b.What), cmp.Compare(a.Target.ID, b.Target.ID))
	})
	return l.out
}

// line is a line about a thread itself, without its text.
func (l *logger) line(at jvmthread.Time, thread int, what string, lock store.LockIndex, seq jvmthread.Seq) viewapi.Triple {
	self := l.q.threadRef(thread)
	t := viewapi.Triple{Time: l.q.rel(at), Thread: self, What: what, Target: self, Seq: uint32(seq), Active: -1}
	if lock != 0 {
		ref := l.q.lockRef(lock)
		t.Lock = &ref
	}
	return t
}

// wait adds that a thread stops, and how long it was active before.
func (l *logger) wait(iv *store.Interval) {
	t := l.line(iv.Start, iv.Thread, whatOfState[iv.State], iv.Lock, iv.Seq)
	if iv.Peer != 0 && (iv.State == jvmthread.StateBlocked || iv.State == jvmthread.StateJoining || iv.State == jvmthread.StateDeadlocked) {
		t.Target = l.q.threadRef(iv.Peer)
	}
	if iv.State == jvmthread.StateWaiting && l.wanted(t.What) {
		if since := l.active(iv); since != noTime {
			t.Active = int64(iv.Start - since)
		}
	}
	l.add(t)
}

// noTime is a time that is unknown.
const noTime = jvmthread.Time(math.MinInt64)

// activeFrom returns when a thread became active by the end of an interval: it was woken, or its history is missing. It is 0 if the interval
// changes nothing. This is what the triples format states.
func activeFrom(state jvmthread.State, start, end jvmthread.Time) jvmthread.Time {
	switch state {
	case jvmthread.StateWaiting, jvmthread.StateReentering:
		return end
	case jvmthread.StateUnknown:
		if end > start {
			return noTime
		}
	}
	return 0
}

// maxBack bounds the intervals in which active searches.
const maxBack = 1 << 16

// active returns since when a thread was active before a wait: since it started or was woken. Sleeping and being blocked count as active.
func (l *logger) active(iv *store.Interval) jvmthread.Time {
	since, known := l.since[iv.Thread]
	if known {
		return since
	}
	before, since := *iv, noTime
	for range maxBack {
		at := before.Start
		prev, ok := l.q.sn.Before(&before)
		if !ok || prev.End < at {
			if before.Seq == 1 && !before.Marks.Has(jvmthread.MarkPartial) {
				since = at
			}
			break
		}
		if since = activeFrom(prev.State, prev.Start, prev.End); since != 0 {
			break
		}
		before, since = prev, noTime
	}
	l.since[iv.Thread] = since
	return since
}

func (l *logger) wanted(what string) bool { return l.whats == nil || slices.Contains(l.whats, what) }

func (l *logger) add(t viewapi.Triple) {
	if !l.wanted(t.What) {
		return
	}
	t.Text = t.Thread.Name + ", " + t.What + ", " + t.Target.Name
	if t.Active >= 0 {
		t.Text += fmt.Sprintf(", active %d ms", t.Active/1_000_000)
	}
	if l.text != "" && !strings.Contains(strings.ToLower(t.Text), l.text) && (t.Lock == nil || !strings.Contains(strings.ToLower(t.Lock.Class), l.text)) {
		return
	}
	l.out = append(l.out, t)
}
