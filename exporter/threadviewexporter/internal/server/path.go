// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
)

const (
	maxPathRows = 200
	maxSegments = 1500
)

// graph is the waits of the range in the form for critical paths.
type graph struct {
	graph   *criticalpath.Graph
	stopped map[jvmthread.ThreadID]jvmthread.Time // time each thread was blocked within the range
}

// graph makes the graph of all threads over the range.
func (q *query) graph() (*graph, *Problem) {
	g := &graph{graph: criticalpath.New(criticalpath.Limits{MaxPieces: 1 << 22}), stopped: make(map[jvmthread.ThreadID]jvmthread.Time)}
	n := 0
	for i := range q.sn.Threads {
		if !q.sn.Threads[i].Known {
			continue
		}
		list := q.intervals(i)
		if len(list) == 0 {
			continue
		}
		if n += len(list); n > q.view.cfg.PathIntervals {
			return nil, problem(http.StatusUnprocessableEntity,
				"too many intervals for a critical path: the limit is %d; choose a shorter range (from, to)", q.view.cfg.PathIntervals)
		}
		for k := range list {
			if kindOf(list[k].State) == kindBlocked {
				g.stopped[list[k].Thread] += jvmthread.Time(q.clip(list[k].Start, list[k].End))
			}
		}
		g.graph.AddLane(list[0].Thread, list)
	}
	g.graph.AddInteractions(q.interactions())
	g.graph.AddHolds(q.holds())
	return g, nil
}

// intervals returns the intervals of a thread as the engine has them. One that continues after the range is open.
func (q *query) intervals(thread int) []jvmthread.Interval {
	var out []jvmthread.Interval
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
		out = append(out, jvmthread.Interval{
			Start: iv.Start, End: iv.End, Thread: q.sn.Threads[thread].ID, Peer: q.sn.Threads[iv.Peer].ID, Timeout: iv.Timeout, Lock: q.lockID(iv.Lock),
			Stack: jvmthread.StackID(iv.Stack), Seq: iv.Seq, Cycle: iv.Cycle, State: iv.State, Marks: iv.Marks,
		})
	}
	return out
}

func (q *query) lockID(l store.LockIndex) jvmthread.LockID {
	if l == 0 {
		return jvmthread.NoLock
	}
	return jvmthread.LockID{Class: jvmthread.ClassID(q.sn.Locks[l].Class), Hash: q.sn.Locks[l].Hash}
}

func (q *query) interactions() []jvmthread.Interaction {
	var out []jvmthread.Interaction
	q.sn.Edges(q.from, q.to+1, func(e store.Edge) bool {
		out = append(out, jvmthread.Interaction{
			CauseTime: e.Cause, EffectTime: e.Effect, From: jvmthread.IntervalRef{Thread: q.sn.Threads[e.From].ID, Seq: e.FromSeq},
			To: jvmthread.IntervalRef{Thread: q.sn.Threads[e.To].ID, Seq: e.ToSeq}, Lock: q.lockID(e.Lock), Stack: jvmthread.StackID(e.Stack),
			Kind: e.Kind, Confidence: e.Confidence,
		})
		return true
	})
	slices.SortStableFunc(out, func(a, b jvmthread.Interaction) int { return cmp.Compare(a.To.Thread, b.To.Thread) })
	return out
}

func (q *query) holds() []jvmthread.Hold {
	var list []store.Hold
	q.sn.Holds(q.from, q.to, func(h store.Hold) bool {
		h.End = min(h.End, q.to)
		list = append(list, h)
		return true
	})
	slices.SortFunc(list, func(a, b store.Hold) int {
		return cmp.Or(cmp.Compare(a.Lock, b.Lock), cmp.Compare(a.Start, b.Start))
	})
	out := make([]jvmthread.Hold, len(list))
	for i, h := range list {
		out[i] = jvmthread.Hold{Start: h.Start, End: h.End, Lock: q.lockID(h.Lock), Thread: q.sn.Threads[h.Thread].ID, Marks: h.Marks}
	}
	return out
}

// whose chooses the thread of the path: the requested one, or the one that was blocked longest, or ran last.
func (q *query) whose(g *graph, wanted jvmthread.ThreadID) (jvmthread.ThreadID, string, *Problem) {
	if wanted != jvmthread.NoThread {
		if q.sn.Thread(wanted) == 0 {
			return 0, "", &Problem{http.StatusNotFound, "thread: not a thread of this session", "thread"}
		}
		return wanted, "asked", nil
	}
	best, most := jvmthread.NoThread, jvmthread.Time(0)
	for id, t := range g.stopped {
		if t > most || t == most && t > 0 && id < best {
			best, most = id, t
		}
	}
	if best != jvmthread.NoThread {
		return best, "blocked longest", nil
	}
	return g.graph.Last(q.to), "ran last", nil
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
	thread, chosen, p := q.whose(g, wanted)
	if p != nil {
		return nil, p
	}
	if unbounded && wanted == jvmthread.NoThread {
		thread, chosen = g.graph.Last(q.to), "ran last"
	}
	out := api.Path{
		From: q.rel(q.from), To: q.rel(q.to), Chosen: chosen, Unbounded: unbounded, Segments: []api.Segment{}, Threads: []api.ThreadRef{},
		Locks: []api.PathRow{}, Classes: []api.PathRow{}, Sites: []api.PathRow{}, PerThread: []api.PathRow{}, PerKind: []api.PathRow{},
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
	q.pathTables(g.graph, &path, &out)
	return out, nil
}

// segments fills in the segments. If there are too many, short neighbors are joined.
func (q *query) segments(path *criticalpath.Path, out *api.Path) {
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
		seg := api.Segment{From: q.rel(s.Start), To: q.rel(s.End), Thread: uint64(s.Thread), Kind: s.Kind.String(), Joined: 1}
		if s.Via >= 0 {
			seg.Depth = depths[s.Via]
		}
		seen[q.sn.Thread(s.Thread)] = true
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
	seen[0] = false
	out.Threads = q.refs(seen)
}
