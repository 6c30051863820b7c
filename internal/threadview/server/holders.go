// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// maxHolders bounds the holders of a wait that are listed.
const maxHolders = 50

// holders returns the threads that held what an interval waited for, by the rule of the spans.
func (q *query) holders(iv *store.Interval) []viewapi.Holder {
	out := []viewapi.Holder{}
	if !window.HasHolders(iv.Wait) {
		return out
	}
	var holds []jvmthread.Hold
	q.sn.Holds(iv.Start, iv.End, func(h store.Hold) bool {
		if h.Lock == iv.Lock && iv.Lock != 0 {
			holds = append(holds, q.engineHold(&h))
		}
		return true
	})
	slices.SortStableFunc(holds, func(a, b jvmthread.Hold) int { return cmp.Compare(a.End, b.End) })
	list := window.AppendHolders(nil, q.sn.Threads[iv.Thread].ID, iv.Start, iv.End, holds)
	list = list[:min(len(list), maxHolders)]
	var did window.Activities
	window.FindDoing(list, q, iv.Start, iv.End, holds, &did)
	if len(list) == 0 {
		wait := q.engineInterval(iv)
		var causes []jvmthread.Interaction
		q.sn.EdgesTo(iv, func(e store.Edge) bool {
			causes = append(causes, q.engineInteraction(&e))
			return true
		})
		list = window.AppendSupposedHolder(nil, q, &wait, iv.Start, iv.End, causes, &did)
	}
	for i := range list {
		out = append(out, q.holder(&list[i], iv.End-iv.Start))
	}
	return out
}

// During implements [window.History].
func (q *query) During(id jvmthread.ThreadID, all *window.Activities, from, to jvmthread.Time) {
	c := q.sn.Walk(q.sn.Thread(id), from, to)
	for c.Next() {
		iv := c.Interval()
		did := q.engineInterval(&iv)
		all.Did(&did, from, to, q.pauses(from, to))
	}
}

func (q *query) holder(h *window.Holder, wait jvmthread.Time) viewapi.Holder {
	thread := q.sn.Thread(h.Thread)
	out := viewapi.Holder{Thread: q.threadRef(thread), Time: int64(h.Time), Waited: int64(h.Time), Share: h.Share(wait.Sub(0))}
	if h.Doing.Seq == jvmthread.NoSeq {
		return out
	}
	if iv, ok := q.sn.Numbered(q.sn.Thread(h.Doing.Thread), h.Doing.Seq, h.Doing.Start); ok {
		out.Doing, out.Text, out.Stack = q.reference(&iv), q.activity(&iv), q.stackOf(iv.Stack)
	}
	return out
}

// activity says what a thread did: "asleep in Report.write".
func (q *query) activity(iv *store.Interval) string {
	site := q.sn.Site(iv.Stack)
	if iv.State == jvmthread.StateRunnable && !q.isDumped() {
		return q.ran(iv.Thread, iv.Start, iv.End).text(site.Function)
	}
	return wording.Doing(iv.State, iv.Wait, wording.Object(iv.Wait, q.sn.Class(iv.Lock), site.Lock, site.Entry), site.Function)
}

// site returns the code that waits at a stack, or nil.
func (q *query) site(id store.StackID) *viewapi.Site {
	if id == 0 {
		return nil
	}
	s := q.sn.Site(id)
	return &viewapi.Site{Function: s.Function, Line: line(s.File, s.Line), Entry: s.Entry, Lock: s.Lock}
}
