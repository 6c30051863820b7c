// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import "github.com/weft-otel/weft/internal/jvmthread"

// frame is a thread whose activity up to end is being added to the path. The frames below it on the stack wait for it.
type frame struct {
	end    jvmthread.Time
	thread jvmthread.ThreadID
	lane   int32 // none: no data for the thread
	index  int32 // of the current interval
	via    int32 // the wait that led here
	wait   int32 // of the interval at waitAt
	waitAt int32 // the index of the interval to which wait belongs
	within within
}

// within states what a frame has to undo when the frame above it is popped.
type within uint8

const (
	withinNothing within = iota
	withinWait
	withinBirth
)

// walk builds a bounded path, starting at lo.
type walk struct {
	g   *Graph
	p   *Path
	now jvmthread.Time

	maxPieces int  // limit of visited pieces
	marks     bool // only mark the waits that the path leads through; add no segments
}

// Bounded finds what a thread had to wait for over [lo, hi). It replaces the previous contents of the path.
func (g *Graph) Bounded(thread jvmthread.ThreadID, lo, hi jvmthread.Time, p *Path) {
	p.reset(thread, lo, hi)
	w := walk{g: g, p: p, now: lo, maxPieces: g.limits.MaxPieces}
	w.run(thread)
}

// run walks from the thread's piece at w.now to the end of the path. It returns false if it reached the limit of pieces before the end.
func (w *walk) run(thread jvmthread.ThreadID) bool {
	g, p := w.g, w.p
	g.stack = g.stack[:0]
	w.push(thread, g.laneOf(thread), p.End, NoWait)
	for len(g.stack) > 0 {
		f := &g.stack[len(g.stack)-1]
		switch {
		case w.now >= f.end:
			w.pop()
		case p.Visited >= w.maxPieces:
			for len(g.stack) > 0 {
				w.pop()
			}
			p.add(Segment{Start: w.now, End: p.End, Thread: thread, Via: NoWait, Kind: KindCut})
			return false
		default:
			p.Visited++
			w.step(f)
		}
	}
	return true
}

// push continues with another thread, given the index of its lane.
func (w *walk) push(thread jvmthread.ThreadID, at int32, end jvmthread.Time, via int32) {
	index := none
	if at >= 0 {
		index = w.g.at(&w.g.lanes[at], w.now)
	}
	w.g.stack = append(w.g.stack, frame{end: end, thread: thread, lane: at, index: index, via: via, waitAt: none})
}

// pop removes the top frame and clears the marks of the frame that waited for it.
func (w *walk) pop() {
	g := w.g
	g.stack = g.stack[:len(g.stack)-1]
	if len(g.stack) == 0 {
		return
	}
	f := &g.stack[len(g.stack)-1]
	switch f.within {
	case withinWait:
		g.nodes[g.lanes[f.lane].base+f.index].flags &^= onStack
	case withinBirth:
		g.lanes[f.lane].unborn = false
	case withinNothing:
	}
	f.within = withinNothing
}

// emit adds the activity of the frame's thread up to end to the path.
func (w *walk) emit(f *frame, seq jvmthread.Seq, kind Kind, via int32, end jvmthread.Time) {
	if !w.marks {
		w.p.add(Segment{Start: w.now, End: end, Thread: f.thread, Seq: seq, Via: via, Kind: kind})
	}
	w.now = end
}

// step advances the frame by one piece: it emits the piece, or pushes the thread that the piece waited for.
func (w *walk) step(f *frame) {
	if f.lane < 0 {
		w.emit(f, jvmthread.NoSeq, KindUnknown, f.via, f.end)
		return
	}
	g := w.g
	l := &g.lanes[f.lane]
	n := int32(l.intervals.Len())
	if f.index < n && g.nodes[l.base+f.index].end <= w.now {
		if f.index++; f.index < n && g.nodes[l.base+f.index].end <= w.now {
			l.cursor = f.index
			f.index = g.at(l, w.now)
		}
	}
	if f.index >= n || g.nodes[l.base+f.index].end <= w.now { // past the last interval, or out of order
		w.emit(f, jvmthread.NoSeq, KindUnknown, f.via, f.end)
		return
	}
	if f.index == 0 || !l.contiguous {
		if start := l.intervals.Start(int(f.index)); start > w.now {
			w.before(f, l, start)
			return
		}
	}
	at := &g.nodes[l.base+f.index]
	kind, end := kindOf[at.state], min(at.end, f.end)
	if kind == kindEnd || kind == KindSleep && at.edge >= 0 && at.end <= w.p.End {
		w.stopped(f, l, at, end)
		return
	}
	w.emit(f, l.seq(f.index), kind, f.via, end)
}

// seq returns the sequence number of an interval. For most lanes it does not access the interval.
func (l *lane) seq(index int32) jvmthread.Seq {
	if l.contiguous {
		return l.first + jvmthread.Seq(index)
	}
	return l.intervals.Seq(int(index))
}

// before handles the time before the start of an interval of the lane: a gap in the history, or the time before the thread started.
func (w *walk) before(f *frame, l *lane, start jvmthread.Time) {
	end := min(start, f.end)
	if f.index > 0 || l.start < 0 || start > w.p.End {
		w.emit(f, jvmthread.NoSeq, KindUnknown, f.via, end)
		return
	}
	e := &w.g.edges[l.start]
	switch {
	case w.now >= e.cause:
		w.emit(f, jvmthread.NoSeq, KindStartLatency, f.via, end)
	case l.unborn:
		w.emit(f, jvmthread.NoSeq, KindCycle, f.via, min(end, e.cause))
	case len(w.g.stack) > w.g.limits.MaxDepth:
		w.emit(f, jvmthread.NoSeq, KindTooDeep, f.via, min(end, e.cause))
	default:
		l.unborn, f.within = true, withinBirth
		w.push(e.thread, e.lane, min(end, e.cause), f.via)
	}
}

// start returns when an interval started. For most lanes it does not access the interval.
func (g *Graph) start(l *lane, index int32) jvmthread.Time {
	if l.contiguous && index > 0 {
		return g.nodes[l.base+index-1].end
	}
	return l.intervals.Start(int(index))
}

// stopped resolves a wait at w.now.
func (w *walk) stopped(f *frame, l *lane, n *node, end jvmthread.Time) {
	if f.waitAt != f.index {
		f.waitAt = f.index
		if !w.marks {
			f.wait = w.wait(f, l, n)
		}
		n.flags |= onPath
	}
	of := n.owned()
	switch {
	case n.state == jvmthread.StateDeadlocked:
		w.emit(f, l.seq(f.index), KindDeadlock, f.wait, end)
	case n.wait.Idle():
		w.idle(f, l, n, end)
	case n.flags&onStack != 0:
		w.emit(f, l.seq(f.index), KindCycle, f.wait, end)
	case len(w.g.stack) > w.g.limits.MaxDepth:
		w.emit(f, l.seq(f.index), KindTooDeep, f.wait, end)
	case w.marks && of >= 0 && n.state != jvmthread.StateParked && w.g.locks[of].reached:
		w.now = end // all owners are reached, so there is nothing to follow
	case of >= 0:
		w.blocked(f, l, n, end)
	default:
		w.waiting(f, l, n, end)
	}
}

// wait adds a wait to the path.
func (w *walk) wait(f *frame, l *lane, n *node) int32 {
	at, added := w.p.wait(jvmthread.IntervalRef{Thread: f.thread, Seq: l.seq(f.index)}, f.via)
	if added {
		v := &w.p.Waits[at]
		v.Stack, v.State, v.Kind = n.stack, n.state, n.wait
		if n.lock >= 0 {
			v.Lock = w.g.locks[n.lock].id
		}
	}
	return at
}

// follow continues with the thread that the frame's wait depends on, up to end, which is later than now.
func (w *walk) follow(f *frame, n *node, thread jvmthread.ThreadID, at int32, end jvmthread.Time) {
	if w.marks && at >= 0 && w.g.lanes[at].reached {
		w.now = end
		return
	}
	n.flags |= onStack
	f.within = withinWait
	w.push(thread, at, end, f.wait)
}

// Reach marks the waits on the bounded paths of threads over [lo, hi) for Idle. It returns the number of visited pieces, and false if it
// gave up after maxPieces of them. It walks like Bounded, but builds no path and does not follow another of the given threads, whose own
// path covers what that thread waited for. Call it once.
func (g *Graph) Reach(threads []jvmthread.ThreadID, lo, hi jvmthread.Time, maxPieces int) (visited int, ok bool) {
	for _, id := range threads {
		if at := g.laneOf(id); at >= 0 {
			g.lanes[at].reached = true
		}
	}
	for k := range g.locks {
		g.locks[k].reached = g.owned(&g.locks[k])
	}
	var p Path
	w := walk{g: g, p: &p, marks: true, maxPieces: maxPieces}
	for _, id := range threads {
		visited := p.Visited
		p.reset(id, lo, hi)
		p.Visited, w.now = visited, lo
		if !w.run(id) {
			return p.Visited, false
		}
	}
	return p.Visited, true
}

// owned reports whether all known owners of a lock are reached.
func (g *Graph) owned(k *lock) bool {
	for i := k.first; i < k.stop; i++ {
		if at := g.holds[i].lane; at >= 0 && !g.lanes[at].reached {
			return false
		}
	}
	return true
}
