// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

const (
	maxPathRows = 200
	maxSegments = 1500
)

// PerPathInterval is the memory in bytes for an interval of a critical path.
const PerPathInterval = 130

// graph is the waits of the range in the form for critical paths. The caller closes it.
type graph struct {
	graph   *criticalpath.Graph
	holds   []jvmthread.Hold // by lock and start
	chooser window.Chooser
	memory  *budget.Budget
	bytes   int // of it
}

func (g *graph) close() { g.memory.Give(g.bytes) }

// graph makes the graph of all threads over the range.
func (q *query) graph() (*graph, *Problem) {
	n := q.intervalsUpTo(q.view.cfg.PathIntervals + 1)
	if n > q.view.cfg.PathIntervals {
		return nil, q.tooLong()
	}
	g := &graph{graph: criticalpath.New(criticalpath.Limits{MaxPieces: 1 << 22}), memory: q.view.cfg.Memory, bytes: n * PerPathInterval}
	if !g.memory.Take(g.bytes) {
		return nil, problem(http.StatusUnprocessableEntity,
			"no memory for a critical path of %d intervals now; choose a shorter range (from, to), or give the collector more memory", n)
	}
	g.chooser.About = func(id jvmthread.ThreadID) jvmthread.Thread { return q.sn.Threads[q.sn.Thread(id)].Thread }
	released := q.released()
	type history struct {
		thread  jvmthread.ThreadID
		stopped jvmthread.Time
	}
	var all []history
	var list []jvmthread.Interval // of one thread
	for i := range q.sn.Threads {
		if !q.sn.Threads[i].Known {
			continue
		}
		if list = q.intervals(i, list[:0]); len(list) == 0 {
			continue
		}
		all = append(all, history{list[0].Thread, q.stopped(i, list, released)})
		intervals := jvmthread.IntervalsOf(list...)
		g.graph.AddLane(list[0].Thread, &intervals)
	}
	q.sn.Edges(q.from, q.to+1, func(e store.Edge) bool { // one by one: a list would be as large as the graph
		ia := q.engineInteraction(&e)
		g.graph.AddInteraction(&ia)
		return true
	})
	g.holds = q.holds()
	g.graph.AddHolds(g.holds)
	slices.SortFunc(all, func(a, b history) int { return cmp.Compare(a.thread, b.thread) })
	for _, h := range all {
		g.chooser.Add(h.thread, time.Duration(h.stopped))
	}
	return g, nil
}

// tooLong is the answer to a range with too many intervals: it names one that is possible.
func (q *query) tooLong() *Problem {
	remedy := "choose a shorter range (from, to)"
	if from, ok := q.sn.Fitting(q.from, q.to, q.view.cfg.PathIntervals); ok {
		remedy = fmt.Sprintf("choose a shorter range, such as its last %s: from=%d, to=%d", wording.Duration(q.to.Sub(from)), q.rel(from), q.rel(q.to))
	}
	return problem(http.StatusUnprocessableEntity, "too many intervals for a critical path: the limit is %d; %s", q.view.cfg.PathIntervals, remedy)
}

// intervalsUpTo returns the number of intervals of the range, or most if it is more.
func (q *query) intervalsUpTo(most int) (n int) {
	for i := range q.sn.Threads {
		for c := q.sn.Walk(i, q.from, q.to); c.Next(); {
			if n++; n >= most {
				return n
			}
		}
	}
	return n
}

// release is an interval that an interaction started or ended: the index of its thread in the upper half, and its number.
type release uint64

func releaseOf(thread int, seq jvmthread.Seq) release { return release(thread)<<32 | release(seq) }

// released returns the intervals that an interaction within the range started or ended, sorted.
func (q *query) released() []release {
	var out []release
	q.sn.Edges(q.from, q.to+1, func(e store.Edge) bool {
		out = append(out, releaseOf(e.To, e.ToSeq))
		return true
	})
	slices.Sort(out)
	return out
}

// stopped returns for how long others kept a thread from its work, given its intervals.
func (q *query) stopped(thread int, list []jvmthread.Interval, released []release) (sum jvmthread.Time) {
	at, _ := slices.BinarySearch(released, releaseOf(thread, 0))
	causes := released[at:]
	for i := range list {
		iv := &list[i]
		own := releaseOf(thread, iv.Seq)
		for len(causes) > 0 && causes[0] < own {
			causes = causes[1:]
		}
		if window.Stops(iv, len(causes) > 0 && causes[0] == own) {
			sum += jvmthread.Time(q.clip(iv.Start, iv.End))
		}
	}
	return sum
}

// intervals appends the intervals of a thread as the engine has them. One that continues after the range is open.
func (q *query) intervals(thread int, out []jvmthread.Interval) []jvmthread.Interval {
	c := q.sn.Walk(thread, q.from, q.to)
	for c.Next() {
		iv := c.Interval()
		if iv.End > q.to {
			iv.End = q.to
			iv.Marks |= jvmthread.MarkOpen
		}
		if n := len(out); n > 0 && (out[n-1].End != iv.Start || out[n-1].Seq+1 != iv.Seq) {
			out = out[:0] // another engine, which numbers from 1 again
		}
		out = append(out, q.engineInterval(&iv))
	}
	return out
}

// engineInterval returns an interval as the engine has it, but with the session's ids of classes and stacks.
func (q *query) engineInterval(iv *store.Interval) jvmthread.Interval {
	return jvmthread.Interval{
		Start: iv.Start, End: iv.End, Thread: q.sn.Threads[iv.Thread].ID, Peer: q.sn.Threads[iv.Peer].ID, Timeout: iv.Timeout, Lock: q.lockID(iv.Lock),
		Stack: jvmthread.StackID(iv.Stack), Seq: iv.Seq, Cycle: iv.Cycle, State: iv.State, Marks: iv.Marks, Wait: iv.Wait,
	}
}

func (q *query) lockID(l store.LockIndex) jvmthread.LockID {
	if l == 0 {
		return jvmthread.NoLock
	}
	return jvmthread.LockID{Class: jvmthread.ClassID(q.sn.Locks[l].Class), Hash: q.sn.Locks[l].Hash}
}

func (q *query) engineInteraction(e *store.Edge) jvmthread.Interaction {
	return jvmthread.Interaction{
		CauseTime: e.Cause, EffectTime: e.Effect, From: jvmthread.IntervalRef{Thread: q.sn.Threads[e.From].ID, Seq: e.FromSeq},
		To: jvmthread.IntervalRef{Thread: q.sn.Threads[e.To].ID, Seq: e.ToSeq}, Lock: q.lockID(e.Lock), Stack: jvmthread.StackID(e.Stack),
		Kind: e.Kind, Confidence: e.Confidence,
	}
}

// holds returns the holds of the range, by lock and time.
func (q *query) holds() []jvmthread.Hold {
	var out []jvmthread.Hold
	q.sn.Holds(q.from, q.to, func(h store.Hold) bool {
		h.End = min(h.End, q.to)
		out = append(out, q.engineHold(&h))
		return true
	})
	slices.SortFunc(out, compareHolds)
	return out
}

// compareHolds orders holds by lock and start.
func compareHolds(a, b jvmthread.Hold) int {
	return cmp.Or(cmp.Compare(a.Lock.Class, b.Lock.Class), cmp.Compare(a.Lock.Hash, b.Lock.Hash), cmp.Compare(a.Start, b.Start))
}

func (q *query) engineHold(h *store.Hold) jvmthread.Hold {
	return jvmthread.Hold{Start: h.Start, End: h.End, Lock: q.lockID(h.Lock), Thread: q.sn.Threads[h.Thread].ID, Marks: h.Marks}
}

// whose chooses the thread of the path: the requested one, or the one that the engine would choose.
func (q *query) whose(g *graph, wanted jvmthread.ThreadID, unbounded bool) (jvmthread.ThreadID, string, *Problem) {
	if wanted != jvmthread.NoThread {
		if q.sn.Thread(wanted) == 0 {
			return 0, "", &Problem{http.StatusNotFound, "thread: not a thread of this session", "thread"}
		}
		return wanted, "asked", nil
	}
	choose := g.chooser.Choose
	if unbounded {
		choose = g.chooser.Last
	}
	id, why := choose(g.graph, q.to)
	return id, why.String(), nil
}

// path returns a critical path.
func (q *query) path() (any, *Problem) {
	wanted := jvmthread.ThreadID(q.number("thread", 0, 0, farAway))
	unbounded := q.choice("mode", "bounded", "unbounded") == "unbounded"
	if p := q.done(); p != nil {
		return nil, p
	}
	g, p := q.graph()
	if p != nil {
		return nil, p
	}
	defer g.close()
	thread, chosen, p := q.whose(g, wanted, unbounded)
	if p != nil {
		return nil, p
	}
	out := viewapi.Path{
		From: q.rel(q.from), To: q.rel(q.to), Chosen: chosen, Unbounded: unbounded, Segments: []viewapi.Segment{}, Threads: []viewapi.ThreadRef{},
		Locks: []viewapi.PathRow{}, Classes: []viewapi.PathRow{}, Sites: []viewapi.PathRow{}, PerThread: []viewapi.PathRow{}, PerKind: []viewapi.PathRow{},
		Parts: []viewapi.PathRow{},
	}
	if thread == jvmthread.NoThread {
		out.Thread.Name = "none"
		return out, nil
	}
	out.Thread = q.threadRef(q.sn.Thread(thread))
	var path criticalpath.Path
	if unbounded {
		g.graph.Unbounded(thread, q.from, q.to, &path)
	} else {
		g.graph.Bounded(thread, q.from, q.to, &path)
	}
	out.From, out.To, out.Total = q.rel(path.Start), q.rel(path.End), len(path.Segments)
	q.segments(&path, &out)
	q.pathParts(&path, &out)
	out.NoSavings = q.noSavings(&path)
	q.pathTables(g.graph, &path, &out)
	return out, nil
}

// segments fills in the segments. If there are too many, short neighbors are joined.
func (q *query) segments(path *criticalpath.Path, out *viewapi.Path) {
	seen := make([]bool, len(q.sn.Threads))
	limit := maxSegments
	if q.file {
		limit = len(path.Segments)
	}
	depths := make([]int, len(path.Waits))
	for i := range path.Waits {
		depths[i] = 1
		if p := path.Waits[i].Parent; p >= 0 {
			depths[i] = depths[p] + 1
		}
	}
	shortest := jvmthread.Time(0)
	if len(path.Segments) > limit {
		shortest = (path.End - path.Start) / jvmthread.Time(limit) * 2
	}
	var longest jvmthread.Time // within the last joined segment
	for _, s := range path.Segments {
		out.Cut = out.Cut || s.Kind == criticalpath.KindCut
		seg := viewapi.Segment{From: q.rel(s.Start), To: q.rel(s.End), Thread: uint64(s.Thread), Kind: s.Kind.String(), Joined: 1}
		if s.Via >= 0 {
			seg.Depth = depths[s.Via]
		}
		n := len(out.Segments)
		if n == 0 || s.End-s.Start >= shortest || jvmthread.Time(out.Segments[n-1].To-out.Segments[n-1].From) >= shortest {
			out.Segments = append(out.Segments, seg)
			longest = s.End - s.Start
			continue
		}
		last := &out.Segments[n-1]
		if s.End-s.Start > longest {
			longest = s.End - s.Start
			last.Thread, last.Kind, last.Depth = seg.Thread, seg.Kind, seg.Depth
		}
		last.To = seg.To
		last.Joined++
	}
	for i := range out.Segments { // not those of joined ones, of which there may be 100,000
		seen[q.sn.Thread(jvmthread.ThreadID(out.Segments[i].Thread))] = true
	}
	seen[0] = false
	out.Threads, out.Virtual = q.refs(seen), q.members(seen)
}
