// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"cmp"
	"math"
	"slices"

	"github.com/weft-otel/weft/internal/engine/recent"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// DefaultMaxDepth bounds the chain of waits that a path follows.
const DefaultMaxDepth = 64

// Limits bound the work for one path. Zero means the default.
type Limits struct {
	MaxDepth  int // waits in a chain: DefaultMaxDepth
	MaxPieces int // pieces of intervals visited for one path: no limit
}

// Graph contains the waits of a window. Fill it in this order: Reset, AddLane for each thread, AddInteractions, AddHolds. It retains the
// lists of intervals passed to AddLane; they must not change until the next Reset. It ignores a second lane of a thread, interactions
// whose effect is outside all intervals, and holds that are empty, shared, overlapping, or not sorted by lock. One goroutine owns it.
type Graph struct {
	limits      Limits
	lanes       []lane
	byID        map[jvmthread.ThreadID]int32
	recentLanes recent.Cache[jvmthread.ThreadID, int32] // indices plus one
	nodes       []node
	edges       []edge
	holds       []hold
	locks       []lock
	byLock      map[jvmthread.LockID]int32
	recentLocks recent.Cache[jvmthread.LockID, int32] // indices plus one
	stack       []frame
}

type lane struct {
	thread     jvmthread.ThreadID
	intervals  *jvmthread.Intervals
	base       int32         // of its first interval in nodes
	cursor     int32         // where the last search ended
	start      int32         // the edge that started the thread, or none
	first      jvmthread.Seq // of its first interval
	contiguous bool          // its intervals touch and have consecutive numbers
	unborn     bool          // the walk is in what led to the start of the thread
	reached    bool          // its path is or will be marked by Reach
}

// node holds what a walk needs of an interval, so that it seldom accesses the interval itself. Its size decides how fast walks are over windows
// that are larger than the CPU's caches.
type node struct {
	end   jvmthread.Time
	edge  int32 // that ended it, or none
	lock  int32 // of a wait: its lock, or none
	stack jvmthread.StackID
	state jvmthread.State
	wait  jvmthread.Wait
	flags uint8
}

const (
	onStack   = 1 << iota // the walk is above this wait
	onPath                // a path leads through it
	contends              // it waits for the owner of its lock, if that is known
	contended             // the thread waits for something that other threads hold
	timedOut
)

// owned returns the lock for whose owner the thread waits, or none.
func (n *node) owned() int32 {
	if n.flags&contends == 0 {
		return none
	}
	return n.lock
}

type edge struct {
	cause      jvmthread.Time
	thread     jvmthread.ThreadID
	lane       int32 // none: the thread has no lane
	index      int32 // of the interval in the lane, as a hint
	confidence jvmthread.Confidence
}

type hold struct {
	start, end jvmthread.Time
	thread     jvmthread.ThreadID
	lane       int32
	marks      jvmthread.HoldMarks
}

type lock struct {
	id          jvmthread.LockID
	first, stop int32 // its holds
	cursor      int32 // where the last search ended
	reached     bool  // all its owners are reached
}

const none int32 = -1

// New returns an empty graph.
func New(limits Limits) *Graph {
	limits.MaxDepth = cmp.Or(limits.MaxDepth, DefaultMaxDepth)
	limits.MaxPieces = cmp.Or(limits.MaxPieces, math.MaxInt)
	return &Graph{limits: limits, byID: make(map[jvmthread.ThreadID]int32), byLock: make(map[jvmthread.LockID]int32)}
}

// Reset empties the graph and keeps its memory.
func (g *Graph) Reset() {
	clear(g.lanes) // they retain lists of the caller
	clear(g.byID)
	clear(g.byLock)
	g.recentLanes.Clear()
	g.recentLocks.Clear()
	g.lanes, g.nodes, g.edges, g.holds, g.locks = g.lanes[:0], g.nodes[:0], g.edges[:0], g.holds[:0], g.locks[:0]
}

// Len returns the number of intervals.
func (g *Graph) Len() int { return len(g.nodes) }

// Room returns the number of intervals for which there is memory.
func (g *Graph) Room() int { return cap(g.nodes) }

// AddLane adds a thread with its intervals, in order. Each interval begins where the previous one ends.
func (g *Graph) AddLane(thread jvmthread.ThreadID, intervals *jvmthread.Intervals) {
	if _, duplicate := g.byID[thread]; duplicate {
		return
	}
	g.byID[thread] = int32(len(g.lanes))
	base := len(g.nodes)
	l := lane{thread: thread, intervals: intervals, base: int32(base), start: none, contiguous: intervals.Contiguous()}
	if intervals.Len() > 0 {
		l.first = intervals.Seq(0)
	}
	g.lanes = append(g.lanes, l)
	g.nodes = slices.Grow(g.nodes, intervals.Len())[:base+intervals.Len()]
	nodes := g.nodes[base:]
	var iv jvmthread.Interval
	for i := range nodes {
		intervals.Read(i, &iv)
		nodes[i] = node{end: iv.End, edge: none, lock: none, stack: iv.Stack, state: iv.State, wait: iv.Wait, flags: flags(&iv)}
		if kind := kindOf[iv.State]; !iv.Lock.IsZero() && (kind == kindEnd || kind == KindSleep) || nodes[i].flags&contends != 0 {
			nodes[i].lock = g.lock(iv.Lock)
		}
	}
}

// flags returns what a node states about its interval from the beginning.
func flags(iv *jvmthread.Interval) (f uint8) {
	block := iv.State == jvmthread.StateBlocked || iv.State == jvmthread.StateReentering
	if block || iv.State == jvmthread.StateParked && !iv.Lock.IsZero() {
		f |= contends
	}
	if block || iv.Wait.Contended() {
		f |= contended
	}
	if iv.Marks.Has(jvmthread.MarkTimedOut) {
		f |= timedOut
	}
	return f
}

// AddInteractions adds the interactions that released threads.
func (g *Graph) AddInteractions(list []jvmthread.Interaction) {
	for i := range list {
		g.AddInteraction(&list[i])
	}
}

// AddInteraction adds an interaction that released a thread.
func (g *Graph) AddInteraction(ia *jvmthread.Interaction) {
	to, from := g.laneOf(ia.To.Thread), g.laneOf(ia.From.Thread)
	index := g.index(to, ia.To.Seq)
	starts := ia.Kind == jvmthread.InteractionStart
	if index < 0 || starts && index > 0 {
		return
	}
	e := edge{cause: min(ia.CauseTime, ia.EffectTime), thread: ia.From.Thread, lane: from, index: g.index(from, ia.From.Seq), confidence: ia.Confidence}
	place := &g.nodes[g.lanes[to].base+index].edge
	if starts {
		place = &g.lanes[to].start
	}
	if *place >= 0 && !better(&e, &g.edges[*place]) {
		return
	}
	*place = int32(len(g.edges))
	g.edges = append(g.edges, e)
}

// better reports whether a explains better than b why the same wait ended.
func better(a, b *edge) bool {
	if a.confidence != b.confidence {
		return a.confidence < b.confidence
	}
	return a.cause > b.cause
}

// AddHolds adds all holds, sorted by lock and then by time. Call it once.
func (g *Graph) AddHolds(list []jvmthread.Hold) {
	for i := 0; i < len(list); {
		id, first := list[i].Lock, len(g.holds)
		k := &g.locks[g.lock(id)]
		duplicate, end := k.first < k.stop, list[i].Start
		for ; i < len(list) && list[i].Lock == id; i++ {
			h := &list[i]
			start := max(h.Start, end)
			if duplicate || start >= h.End || h.Marks&jvmthread.HoldShared != 0 {
				continue
			}
			end = h.End
			g.holds = append(g.holds, hold{start: start, end: end, thread: h.Thread, lane: g.laneOf(h.Thread), marks: h.Marks})
		}
		if !duplicate {
			k.first, k.stop, k.cursor = int32(first), int32(len(g.holds)), int32(first)
		}
	}
}

// lock returns the index of a lock, adding it without holds if it is new.
func (g *Graph) lock(id jvmthread.LockID) int32 {
	hash := id.Hash ^ uint32(id.Class)
	if next := g.recentLocks.Get(hash, id); next > 0 {
		return next - 1
	}
	at, ok := g.byLock[id]
	if !ok {
		at = int32(len(g.locks))
		g.byLock[id] = at
		g.locks = append(g.locks, lock{id: id})
	}
	g.recentLocks.Put(hash, id, at+1)
	return at
}

// Last returns the thread whose history, limited to hi, ends last: the start of the path of a program. Among several, it prefers a thread
// that runs at its end, then the smallest id. It considers the threads that may returns true for; nil: all. It returns NoThread if no history
// begins before hi.
func (g *Graph) Last(hi jvmthread.Time, may func(jvmthread.ThreadID) bool) jvmthread.ThreadID {
	best, bestEnd, bestRuns := jvmthread.NoThread, jvmthread.Time(0), false
	for i := range g.lanes {
		l := &g.lanes[i]
		end, runs, ok := l.end(hi)
		if !ok || may != nil && !may(l.thread) {
			continue
		}
		later := best == jvmthread.NoThread || end > bestEnd
		if same := end == bestEnd; later || same && (runs && !bestRuns || runs == bestRuns && l.thread < best) {
			best, bestEnd, bestRuns = l.thread, end, runs
		}
	}
	return best
}

// end returns when the thread was last alive, and whether it was running then.
func (l *lane) end(hi jvmthread.Time) (end jvmthread.Time, runs, ok bool) {
	for i := l.intervals.Len() - 1; i >= 0; i-- {
		iv := l.intervals.At(i)
		if iv.State != jvmthread.StateDead && iv.Start < hi {
			return min(iv.End, hi), iv.State == jvmthread.StateRunnable, true
		}
	}
	return 0, false, false
}
