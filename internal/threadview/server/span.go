// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"encoding/hex"
	"slices"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

const maxPlaces = 10 // of a span

// spanPlaces finds a span by its ID. IDs of thread_span are computed from intervals, so they are found by computing them again.
func (q *query) spanPlaces() (any, *Problem) {
	text := q.text("id")
	var id [8]byte
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(id) {
		q.fail("id", "want 16 hexadecimal digits")
	}
	if p := q.done(); p != nil {
		return nil, p
	}
	copy(id[:], raw)
	out := viewapi.SpanPlaces{ID: text, Places: q.intervalsOf(id)}
	if len(out.Places) == 0 {
		out.Places = q.requestsOf(id)
	}
	slices.SortStableFunc(out.Places, func(a, b viewapi.SpanPlace) int { return cmp.Compare(b.To-b.From, a.To-a.From) })
	out.Places = out.Places[:min(len(out.Places), maxPlaces)]
	return out, nil
}

// intervalsOf returns the interval whose span has an ID.
func (q *query) intervalsOf(id [8]byte) []viewapi.SpanPlace {
	out := []viewapi.SpanPlace{}
	windows := windowsOf(q)
	q.sn.Sweep(q.from, q.to, slices.Repeat([]bool{true}, len(q.sn.Threads)), func(c *store.Cursor) {
		ref := jvmthread.IntervalRef{Thread: q.sn.Threads[c.Thread()].ID, Seq: c.Seq()}
		kind := ""
		switch {
		case threadpdata.RequestWaitID(q.sn.ID, ref) == id:
			kind = "wait"
		case windows.has(id, ref, c.Start, c.End):
			kind = "interval"
		default:
			return
		}
		iv := c.Interval()
		out = append(out, viewapi.SpanPlace{
			Kind: kind, Thread: q.threadRef(iv.Thread), From: q.rel(iv.Start), To: q.rel(iv.End), Name: q.sn.Title(&iv), Interval: q.reference(&iv),
		})
	})
	return out
}

// windows are those of thread_span.
type windows struct {
	q             *query
	length, phase jvmthread.Time
	at            threadpdata.Window // the last one
	start         jvmthread.Time
}

func windowsOf(q *query) windows {
	w := windows{q: q, length: jvmthread.Time(q.view.cfg.TraceWindow)}
	if w.length > 0 {
		w.phase = window.Phase(q.sn.ID, q.view.cfg.TraceWindow)
	}
	return w
}

// has reports whether the span of an interval in one of the windows has an ID.
func (w *windows) has(id [8]byte, ref jvmthread.IntervalRef, from, to jvmthread.Time) bool {
	if w.length <= 0 {
		return false
	}
	for at := max(from, w.q.from); at < max(to, from+1) && at <= w.q.to; {
		since := window.Since(at, w.length, w.phase)
		if start := max(at-since, w.q.sn.Began(at)); start != w.start {
			w.start, w.at = start, threadpdata.WindowOf(w.q.sn.ID, start)
		}
		if w.at.SpanID(ref) == id {
			return true
		}
		at += w.length - since
	}
	return false
}

// requestsOf returns when a span of the application was current, by thread.
func (q *query) requestsOf(id [8]byte) []viewapi.SpanPlace {
	places := map[jvmthread.ThreadID]*viewapi.SpanPlace{}
	current := map[jvmthread.ThreadID]bool{}
	var order []jvmthread.ThreadID
	place := func(thread jvmthread.ThreadID, from jvmthread.Time) *viewapi.SpanPlace {
		if places[thread] == nil {
			places[thread] = &viewapi.SpanPlace{Kind: "request", Thread: q.threadRef(q.sn.Thread(thread)), From: q.rel(from), To: q.rel(from)}
			order = append(order, thread)
		}
		return places[thread]
	}
	_ = q.sn.Contexts(q.from, q.to, func(ev *jvmthread.Event) {
		switch {
		case ev.Kind == jvmthread.KindRequestEnd && ev.Span.SpanID == id:
			p := place(ev.Thread, ev.Time)
			p.From, p.To = q.rel(ev.Time-jvmthread.Time(ev.Arg)), q.rel(ev.Time)
			p.Name = q.sn.Classes[ev.Lock.Class]
			delete(current, ev.Thread)
		case ev.Kind == jvmthread.KindContext && ev.Span.SpanID == id:
			place(ev.Thread, ev.Time)
			current[ev.Thread] = true
		case current[ev.Thread]:
			place(ev.Thread, ev.Time).To = q.rel(ev.Time)
			delete(current, ev.Thread)
		}
	})
	out := []viewapi.SpanPlace{}
	for _, thread := range order {
		if current[thread] {
			places[thread].To = q.rel(q.to)
		}
		out = append(out, *places[thread])
	}
	return out
}
