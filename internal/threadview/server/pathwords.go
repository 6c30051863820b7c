// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

// pathPart is what the thread of a path did itself or waited for. Parts add up to the path.
type pathPart struct {
	thread  jvmthread.ThreadID // of an unbounded path, which moves; else that of the path
	kind    criticalpath.Kind  // KindUnknown in a wait that leads to another thread
	state   jvmthread.State    // in whose color lanes show the thread
	run     wording.Run        // of KindRun
	wait    jvmthread.Wait
	object  string
	outside bool // another thread was to start it, or it had ended
}

// pathSum is the sums of a part.
type pathSum struct {
	count   int
	time    jvmthread.Time
	longest criticalpath.Segment
	causes  map[jvmthread.ThreadID]jvmthread.Time
}

// pathTeller puts a path into words.
type pathTeller struct {
	q         *query
	path      *criticalpath.Path
	unbounded bool
	roots     []int32              // by index of the path's waits: the wait of the path's own thread that led to it
	causes    []jvmthread.ThreadID // by index of the path's waits: the thread that the wait of the path's own thread is for; NoThread: it is that wait
	own       map[int32]pathPart   // by index of the own waits
}

// pathParts fills in what a path consists of, and the sentence.
func (q *query) pathParts(path *criticalpath.Path, out *viewapi.Path) {
	t := pathTeller{
		q: q, path: path, unbounded: out.Unbounded, roots: make([]int32, len(path.Waits)), causes: make([]jvmthread.ThreadID, len(path.Waits)),
		own: map[int32]pathPart{},
	}
	for i := range path.Waits {
		w := &path.Waits[i]
		switch {
		case w.Parent < 0:
			t.roots[i] = int32(i)
		case path.Waits[w.Parent].Parent < 0:
			t.roots[i], t.causes[i] = w.Parent, w.Ref.Thread
		default:
			t.roots[i], t.causes[i] = t.roots[w.Parent], t.causes[w.Parent]
		}
	}
	sums := map[pathPart]*pathSum{}
	for i := range path.Segments {
		seg := &path.Segments[i]
		part, cause := t.part(seg)
		for part, took := range t.divide(part, seg) {
			sum := sums[part]
			if sum == nil {
				sum = &pathSum{causes: map[jvmthread.ThreadID]jvmthread.Time{}}
				sums[part] = sum
			}
			sum.count++
			sum.time += took
			if sum.count == 1 || took > sum.longest.End-sum.longest.Start {
				sum.longest = *seg
			}
			if cause != jvmthread.NoThread {
				sum.causes[cause] += took
			}
		}
	}
	out.Parts = []viewapi.PathRow{}
	for part, sum := range sums {
		out.Parts = append(out.Parts, t.row(&part, sum))
	}
	slices.SortFunc(out.Parts, func(a, b viewapi.PathRow) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Shown, b.Shown))
	})
	out.Text = q.pathSentence(path, out)
	if !q.file {
		out.Parts = out.Parts[:min(len(out.Parts), max(1, min(maxPathRows, q.most)))]
	}
}

// divide yields what the thread did in a segment, and for how long: one that ran was on a processor, waited for one, or stood still with the JVM.
func (t *pathTeller) divide(of pathPart, seg *criticalpath.Segment) iter.Seq2[pathPart, jvmthread.Time] {
	return func(yield func(pathPart, jvmthread.Time) bool) {
		if of.kind != criticalpath.KindRun || t.q.isDumped() {
			yield(of, seg.End-seg.Start)
			return
		}
		for piece := range t.q.pieces(seg) {
			if piece.Stopped {
				paused := of
				paused.wait = jvmthread.WaitPause
				if !yield(paused, piece.End-piece.Start) {
					return
				}
				continue
			}
			for run, s := range t.q.runs(part{from: piece.Start, to: piece.End}, seg.Thread) {
				if of.run = wording.Run(run); s.length > 0 && !yield(of, s.length) {
					return
				}
			}
		}
	}
}

// part returns what a segment belongs to, and the thread that this wait is for.
func (t *pathTeller) part(seg *criticalpath.Segment) (pathPart, jvmthread.ThreadID) {
	if seg.Via >= 0 && !t.unbounded { // an unbounded path leaves the waiting thread for good
		root := t.roots[seg.Via]
		if starter := t.path.Waits[root].Ref.Thread; starter != t.path.Thread { // it waited before it started the thread
			return pathPart{thread: t.path.Thread, outside: true}, starter
		}
		part, ok := t.own[root]
		if !ok {
			w := &t.path.Waits[root]
			part = t.describe(w.Ref.Thread, w.Ref.Seq, seg.Start)
			t.own[root] = part
		}
		switch {
		case seg.Via != root:
			return part, t.causes[seg.Via]
		case seg.Thread != t.path.Thread:
			return part, seg.Thread
		}
		part.kind = seg.Kind
		return part, jvmthread.NoThread
	}
	if seg.Thread != t.path.Thread && !t.unbounded {
		return pathPart{thread: t.path.Thread, outside: true}, seg.Thread
	}
	if seg.Kind == criticalpath.KindRun {
		return pathPart{thread: seg.Thread, kind: seg.Kind, state: jvmthread.StateRunnable}, jvmthread.NoThread
	}
	part := t.describe(seg.Thread, seg.Seq, seg.Start)
	part.kind = seg.Kind
	return part, jvmthread.NoThread
}

// describe returns the part of an interval.
func (t *pathTeller) describe(id jvmthread.ThreadID, seq jvmthread.Seq, at jvmthread.Time) pathPart {
	iv, ok := t.q.numbered(id, seq, at)
	if !ok {
		iv, ok = t.q.sn.At(t.q.sn.Thread(id), at)
	}
	if !ok {
		th := &t.q.sn.Threads[t.q.sn.Thread(id)]
		ended := th.Dead && at >= th.Last
		part := pathPart{thread: id, outside: ended}
		if ended {
			part.state = jvmthread.StateDead
		}
		return part
	}
	part := pathPart{thread: id, state: iv.Shown(), wait: iv.Wait}
	switch iv.Wait {
	case jvmthread.WaitNone:
	case jvmthread.WaitSleep:
		part.object = wording.SimpleFunction(t.q.sn.Site(iv.Stack).Function)
	default:
		part.object = t.q.sn.Object(&iv)
	}
	return part
}

func (t *pathTeller) row(part *pathPart, sum *pathSum) viewapi.PathRow {
	row := viewapi.PathRow{
		Count: sum.count, Time: int64(sum.time), Share: float64(sum.time) / float64(max(1, t.path.End-t.path.Start)), State: part.wait.String(),
		Shown: int(part.state),
	}
	who, all := jvmthread.NoThread, true
	for id, time := range sum.causes {
		if who == jvmthread.NoThread || cmp.Or(cmp.Compare(time, sum.causes[who]), cmp.Compare(who, id)) > 0 {
			who = id
		}
	}
	name := ""
	if who != jvmthread.NoThread {
		ref := t.q.threadRef(t.q.sn.Thread(who))
		row.Thread, name, all = &ref, ref.Name, sum.causes[who] == sum.time
	}
	row.Name = part.words(name, all)
	if t.unbounded {
		row.Name = t.q.sn.ThreadName(t.q.sn.Thread(part.thread)) + " " + row.Name
	}
	seg := &sum.longest
	row.First = t.q.find(seg.Thread, seg.Seq, seg.Start)
	return row
}

// pathKinds says what a thread did that did not wait for another one.
var pathKinds = map[criticalpath.Kind]string{
	criticalpath.KindSleep: "asleep", criticalpath.KindSuspended: "suspended", criticalpath.KindDeadlock: "deadlocked",
	criticalpath.KindStartLatency: "starting", criticalpath.KindRunQueue: "waiting for a carrier", criticalpath.KindIdle: "waiting for a task",
	criticalpath.KindTooDeep: "not searched further", criticalpath.KindCut: "not searched",
}

// pathWaits says what a thread waits for, before the name of the object.
var pathWaits = map[jvmthread.Wait]string{
	jvmthread.WaitPermit: "a permit of", jvmthread.WaitPool: "the pool", jvmthread.WaitCondition: "the condition", jvmthread.WaitLatch: "the latch",
	jvmthread.WaitBarrier: "the barrier", jvmthread.WaitExchange: "an exchange in", jvmthread.WaitFuture: "the result of", jvmthread.WaitQueue: "the queue",
	jvmthread.WaitObject: "a notify of", jvmthread.WaitPark: "an unpark, parked on",
}

// pathThings says the same if the object has no name.
var pathThings = map[jvmthread.Wait]string{
	jvmthread.WaitPermit: "a permit", jvmthread.WaitPool: "a pooled object", jvmthread.WaitCondition: "a condition", jvmthread.WaitLatch: "a latch",
	jvmthread.WaitBarrier: "a barrier", jvmthread.WaitExchange: "an exchange", jvmthread.WaitFuture: "a result", jvmthread.WaitQueue: "a queue",
	jvmthread.WaitObject: "a notify", jvmthread.WaitIO: "I/O", jvmthread.WaitPark: "an unpark", jvmthread.WaitCarrier: "a carrier",
	jvmthread.WaitTimer: "its next run", jvmthread.WaitIdle: "a task", jvmthread.WaitSuspend: "its resume", jvmthread.WaitJoin: "a thread to end",
}

// words says what a thread did or waited for, and for whom: always, or for the largest part.
func (p *pathPart) words(who string, all bool) string {
	switch {
	case p.outside && p.state == jvmthread.StateDead:
		return "ended"
	case p.outside:
		return "not started yet (" + who + " ran before)"
	case p.kind == criticalpath.KindWakeLatency:
		return "woken after " + strings.Replace(p.waiting(), "blocked", "being blocked", 1) + ", not running yet"
	case p.kind == criticalpath.KindRun:
		return ran{p.run, p.wait == jvmthread.WaitPause}.text("")
	case p.wait == jvmthread.WaitSleep:
		return strings.TrimSuffix("asleep in "+p.object, " in ")
	case pathKinds[p.kind] != "":
		return pathKinds[p.kind]
	case p.wait == jvmthread.WaitNone:
		return "in an unknown state"
	case p.kind == criticalpath.KindCycle:
		return p.waiting() + ", in a cycle of waits"
	case p.kind == criticalpath.KindTimer:
		return p.waiting() + ", until the time was over"
	}
	held := heldByOne(p.wait)
	switch {
	case held && who != "" && all:
		return "blocked by " + who + ", which held " + cmp.Or(p.object, "the lock")
	case held && who == "":
		return p.waiting() + ", held by an unknown thread"
	case p.wait == jvmthread.WaitJoin && (who == p.object || who == ""):
		return p.waiting()
	case who == "" && p.wait.ForOthers():
		return p.waiting() + ", from an unknown thread"
	case who == "":
		return p.waiting()
	case p.wait.Contended() && all:
		return p.waiting() + ", held by " + who
	case p.wait.Contended():
		return p.waiting() + ", mostly held by " + who
	case all:
		return p.waiting() + ", from " + who
	}
	return p.waiting() + ", mostly from " + who
}

// waiting says what a thread waits for.
func (p *pathPart) waiting() string {
	switch {
	case p.wait == jvmthread.WaitLock:
		return "blocked on " + cmp.Or(p.object, "a lock")
	case p.wait == jvmthread.WaitReenter:
		return "waiting to get " + cmp.Or(p.object, "a monitor") + " again"
	case p.wait == jvmthread.WaitSleep:
		return "a sleep"
	case p.wait == jvmthread.WaitIO && p.object != "":
		return wording.Doing(p.state, p.wait, p.object, "")
	case p.wait == jvmthread.WaitJoin && p.object != "":
		return "waiting for " + p.object + " to end"
	case p.object != "" && pathWaits[p.wait] != "":
		return "waiting for " + pathWaits[p.wait] + " " + p.object
	}
	return "waiting for " + cmp.Or(pathThings[p.wait], "another thread")
}

// maxSentenceParts bounds the parts that the sentence names.
const maxSentenceParts = 4

// pathSentence says what the time went into, in a sentence that can be read aloud. Its numbers are those of the parts.
func (q *query) pathSentence(path *criticalpath.Path, out *viewapi.Path) string {
	whole := path.End - path.Start
	var b strings.Builder
	switch {
	case out.Unbounded:
		b.WriteString("The program took " + durationOf(whole) + " up to " + out.Thread.Name)
	case q.ends(path):
		b.WriteString(out.Thread.Name + " took " + durationOf(whole))
	default:
		b.WriteString(out.Thread.Name + " spent " + durationOf(whole))
	}
	var rest int64
	for i := range out.Parts {
		p := &out.Parts[i]
		if i >= maxSentenceParts || i > 0 && p.Time < int64(whole)/minorPart {
			rest += p.Time
			continue
		}
		b.WriteString([]string{": ", ", "}[min(i, 1)] + wording.Percent(p.Share) + " " + p.Name)
	}
	if rest > 0 && rest >= int64(whole)/noPart {
		b.WriteString(", " + wording.Percent(float64(rest)/float64(whole)) + " otherwise")
	}
	return b.String() + "."
}

// ends reports whether the thread of a path ends in it.
func (q *query) ends(path *criticalpath.Path) bool {
	th := &q.sn.Threads[q.sn.Thread(path.Thread)]
	return th.Dead && th.Last <= path.End
}

// noSavings says why it means nothing how much earlier the thread of a path would finish; empty: it means something, for a thread that ends,
// and in a request.
func (q *query) noSavings(path *criticalpath.Path) string {
	within := false
	thread := q.sn.Thread(path.Thread)
	q.sn.Requests(path.Start, path.End, func(p store.RequestPart) {
		within = within || p.Thread == thread && p.Start <= path.Start && p.End >= path.End
	})
	if within || q.ends(path) {
		return ""
	}
	name := q.sn.ThreadName(thread)
	for c := q.sn.Walk(thread, path.Start, path.End); c.Next(); {
		if c.Wait().Idle() {
			return name + " waits for tasks in this range: without a lock it would wait longer for its next task instead of finishing earlier. " +
				"Select the range of one request or task to see what it would save."
		}
	}
	return name + " does not end in this range, so it would not finish earlier. Select the range of one request or task to see what it would save."
}
