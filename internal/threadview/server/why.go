// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

const (
	maxSteps     = 200
	maxStepWaits = 5
)

// why says in words what a thread spent the range on.
func (q *query) why() (any, *Problem) {
	wanted := jvmthread.ThreadID(q.number("thread", 0, 0, farAway))
	q.page.limit = min(int(q.number("limit", 20, 1, maxSteps)), max(1, q.most))
	if p := q.done(); p != nil {
		return nil, p
	}
	g, p := q.graph()
	if p != nil {
		return nil, p
	}
	defer g.close()
	thread, chosen, p := q.whose(g, wanted, false)
	if p != nil {
		return nil, p
	}
	if wanted == jvmthread.NoThread {
		if top := q.longestWaiter(); top != jvmthread.NoThread {
			thread, chosen = top, window.ChoiceWaited.String()
		}
	}
	out := viewapi.Why{From: q.rel(q.from), To: q.rel(q.to), Chosen: chosen, Total: int64(q.to - q.from), Steps: []viewapi.Step{}}
	if thread == jvmthread.NoThread {
		out.Thread.Name, out.Rest, out.Text = "none", out.Total, "no threads in this range"
		return out, nil
	}
	out.Thread = q.threadRef(q.sn.Thread(thread))
	var path criticalpath.Path
	g.graph.Bounded(thread, q.from, q.to, &path)
	s := q.story(&path, g.holds)
	sums := s.summed()
	out.Text = s.sentence(sums)
	steps := s.passages
	if len(steps) > q.page.limit {
		out.Summed, steps = true, sums
	}
	shown := steps[:min(len(steps), q.page.limit)]
	for i := range shown {
		out.Steps = append(out.Steps, s.step(&shown[i]))
	}
	for i := len(shown); i < len(steps); i++ {
		out.Rest += int64(steps[i].time)
		out.Hidden++
	}
	return out, nil
}

// step describes segments that say the same, by the longest of them.
func (s *story) step(p *passage) viewapi.Step {
	q, seg, v := s.q, &s.path.Segments[p.segment], &s.sayings[p.saying]
	out := viewapi.Step{
		From: q.rel(p.from), To: q.rel(p.to), Time: int64(p.time), Count: int(p.count), Thread: q.threadRef(q.sn.Thread(v.thread)),
		Depth: int(s.chains[v.chain].depth), Kind: v.kind.String(), Title: v.kind.Title(), Doing: v.doing, Waits: []viewapi.StepWait{},
		Text: s.text(v),
	}
	iv, ok := q.numbered(seg.Thread, seg.Seq, seg.Start)
	if v.thread != seg.Thread { // the one that was woken
		iv, ok = q.sn.At(q.sn.Thread(v.thread), seg.Start)
	}
	if ok {
		w := q.stepWait(&iv)
		out.Wait, out.Object, out.Lock, out.Method, out.Line, out.Stack = w.Wait, w.Object, w.Lock, w.Method, w.Line, w.Stack
	}
	var waits []int32 // innermost first
	for at := s.leads(seg); at >= 0; at = s.path.Waits[at].Parent {
		waits = append(waits, at)
	}
	slices.Reverse(waits)
	if n := len(waits) - maxStepWaits; n > 0 {
		out.Hidden = n
		waits = slices.Delete(waits, 1, 1+n)
	}
	for i, at := range waits {
		w := &s.path.Waits[at]
		iv, ok := q.numbered(w.Ref.Thread, w.Ref.Seq, seg.Start)
		if !ok {
			iv = store.Interval{Thread: q.sn.Thread(w.Ref.Thread)}
		}
		wait := q.stepWait(&iv)
		next := v.thread
		switch {
		case i+1 < len(waits) && i == 0 && out.Hidden > 0:
			next = jvmthread.NoThread
			for c := v.chain; c != 0; c = s.chains[c].parent {
				if s.chains[c].depth == 2 {
					next = s.chains[c].thread
				}
			}
		case i+1 < len(waits):
			next = s.path.Waits[waits[i+1]].Ref.Thread
		case v.kind == criticalpath.KindWakeLatency && v.thread != seg.Thread:
			next = jvmthread.NoThread // it has been released
		}
		if heldByOne(w.Kind) && next != jvmthread.NoThread {
			ref := q.threadRef(q.sn.Thread(next))
			wait.Holder = &ref
		}
		out.Waits = append(out.Waits, wait)
	}
	return out
}

// stepWait describes an interval of a thread.
func (q *query) stepWait(iv *store.Interval) viewapi.StepWait {
	out := viewapi.StepWait{
		Thread: q.threadRef(iv.Thread), Title: q.sn.Title(iv), Wait: iv.Wait.String(), Lock: q.lockRef(iv.Lock), Stack: uint32(iv.Stack),
	}
	if iv.Wait != jvmthread.WaitNone {
		out.Object = q.sn.Object(iv)
	}
	if iv.Stack != 0 {
		site := q.sn.Site(iv.Stack)
		out.Method, out.Line = site.Function, line(site.File, site.Line)
	}
	return out
}

// numbered returns the interval of a thread with a number, which includes or touches a time.
func (q *query) numbered(id jvmthread.ThreadID, seq jvmthread.Seq, near jvmthread.Time) (store.Interval, bool) {
	thread := q.sn.Thread(id)
	if thread == 0 || seq == jvmthread.NoSeq {
		return store.Interval{}, false
	}
	return q.sn.Numbered(thread, seq, near)
}

// heldByOne reports whether a path leads from a wait to the owner of its lock. From a wait for a permit or a pool, it leads to the thread
// that returned what the wait was for, which is only one of those that had one.
func heldByOne(w jvmthread.Wait) bool { return w == jvmthread.WaitLock || w == jvmthread.WaitReenter }

// durationOf says how long something took.
func durationOf(t jvmthread.Time) string { return wording.Duration(t.Sub(0)) }
