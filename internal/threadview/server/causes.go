// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

const (
	least         = 10_000_000 // nanoseconds of waits, below which they are not worth a sentence
	leastPart     = 100        // the same as a part of the range
	secondPart    = 10         // a second cost is mentioned if it is at least such a part of the first one, or does not end
	maxCandidates = 12         // whose exact times are compared
)

// costly is what application threads waited for.
type costly struct {
	*contended

	waits *lockWaits
}

// top returns what application threads waited for most, of all that other threads hold or bring about; nil: for nothing. Second is the lock, permit or
// pool for which they waited most, if that is another one.
func (q *query) top(sel selection, found *contentions) (top, second *costly) {
	return q.costliest(sel, q.candidates(sel, found))
}

// candidates returns what application threads may have waited for most.
func (q *query) candidates(sel selection, found *contentions) []*contended {
	others := q.waitsFor(sel, waitKinds, func(at place) bool { return q.isForOthers(at.wait, at.stack) })
	return slices.Concat(found.all[:min(len(found.all), maxCandidates)], others.all[:min(len(others.all), maxCandidates)])
}

// waitKinds are the kinds of waits that are not contended.
var waitKinds = [numKinds]bool{kindParked: true, kindWaited: true, kindQueued: true, kindJoined: true}

// lull returns the waits that application threads spent most time in of those that may be their work: for a notification, a signal, an element of a queue.
func (q *query) lull(sel selection) *costly {
	found := q.waitsFor(sel, waitKinds, func(at place) bool {
		switch at.wait {
		case jvmthread.WaitObject, jvmthread.WaitCondition, jvmthread.WaitQueue:
			return !q.isForOthers(at.wait, at.stack)
		}
		return false
	})
	top, _ := q.costliest(sel, found.all[:min(len(found.all), maxCandidates)])
	return top
}

// costliest returns the two that application threads waited for most; the second one only if it is a lock, a permit or a pool.
func (q *query) costliest(sel selection, all []*contended) (top, second *costly) {
	ranking := q.ranked(sel, all)
	if len(ranking) == 0 {
		return nil, nil
	}
	chosen := ranking[:1]
	if lock := slices.IndexFunc(ranking, func(c *contended) bool { return c.kind.Contended() }); lock > 0 {
		chosen = []*contended{ranking[0], ranking[lock]}
	}
	found := q.costlies(sel, chosen)
	if len(found) > 1 {
		second = found[1]
	}
	return found[0], second
}

// ranked returns what application threads waited for at all, the costliest first.
func (q *query) ranked(sel selection, all []*contended) (ranking []*contended) {
	times := make(map[*contended]jvmthread.Time, len(all))
	for i, time := range q.waited(sel, all) {
		if time > 0 && !strings.HasPrefix(q.sn.Classes[all[i].class], "jdk.jfr.") { // the recorder's
			times[all[i]] = time
			ranking = append(ranking, all[i])
		}
	}
	slices.SortFunc(ranking, func(a, b *contended) int { return cmp.Or(cmp.Compare(times[b], times[a]), a.compare(b)) })
	return ranking
}

// costlies returns the waits for things with their times.
func (q *query) costlies(sel selection, all []*contended) []*costly {
	out := make([]*costly, len(all))
	for i, waits := range q.lockWaits(sel, all) {
		out[i] = &costly{all[i], waits}
	}
	return out
}

// waited returns for how long the threads that count waited for each of some things.
func (q *query) waited(sel selection, all []*contended) []jvmthread.Time {
	times := make([]jvmthread.Time, len(all))
	q.each(sel, all, func(i, _ int, from, to jvmthread.Time) { times[i] += to - from })
	return times
}

// each visits the waits of threads that count for some things, as far as they lie in the range: which thing, which thread, from when to when.
func (q *query) each(sel selection, all []*contended, visit func(i, thread int, from, to jvmthread.Time)) {
	of := map[place]int{}
	for i, c := range all {
		for at := range c.places {
			of[at] = i
		}
	}
	q.sn.Sweep(q.from, q.to, sel.has, func(c *store.Cursor) {
		from, to := max(c.Start, q.from), min(c.End, q.to)
		if c.Wait() == jvmthread.WaitNone || from >= to {
			return
		}
		if i, ok := of[place{q.sn.Locks[c.Lock()].Class, c.Stack(), c.Wait()}]; ok && q.counts(c.Thread(), c.Wait()) {
			visit(i, c.Thread(), from, to)
		}
	})
}

// isSmall reports whether a time of waits is not worth a sentence. Whatever a thread dump shows, is.
func (q *query) isSmall(time int64) bool {
	if q.isDumped() {
		return time == 0
	}
	return time < max(least, int64(q.to-q.from)/leastPart)
}

// longestWaiter returns the thread that waited longest for what costs the most, unless that is little.
func (q *query) longestWaiter() jvmthread.ThreadID {
	sel := q.everyone()
	top, _ := q.top(sel, q.contention(sel))
	if top == nil || q.isSmall(int64(top.waits.waited)) {
		return jvmthread.NoThread
	}
	most := 0
	for i, time := range top.waits.threads {
		if most == 0 || cmp.Or(cmp.Compare(time, top.waits.threads[most]), cmp.Compare(q.id(most), q.id(i))) > 0 {
			most = i
		}
	}
	return q.sn.Threads[most].ID
}

// isForOthers reports whether a thread that waits has work to do, and other threads keep it from that. Contended waits have places of their own.
func (q *query) isForOthers(w jvmthread.Wait, stack store.StackID) bool {
	return q.sn.Site(stack).HasWork(w)
}

// counts reports whether the waits of a thread for something count: those of the JVM and of its recorder do not, and the main thread
// of a program waits for its other threads until they are done.
func (q *query) counts(thread int, w jvmthread.Wait) bool {
	t := &q.sn.Threads[thread]
	if (jvmthread.Thread{Name: t.Name, Group: t.Group}).OfJVM() {
		return false
	}
	return w.Contended() || t.Name != "main" || t.Virtual
}

// largestKind returns the kind with the longest waits, but those without a task; nil: there is none.
func (q *query) largestKind(sel selection) (most *viewapi.KindRow) {
	rows, _ := q.kindRows(sel, func(string) bool { return true })
	for i := range rows {
		if row := &rows[i]; !row.Idle && row.Stats.Time > 0 && (most == nil || row.Stats.Time > most.Stats.Time) {
			most = row
		}
	}
	return most
}
