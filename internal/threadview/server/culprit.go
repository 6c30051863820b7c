// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

const (
	maxAnswerHolders = 5
	leastAnswerShare = 20     // holders that caused less than this part of what the first one did are not listed
	maxAnswerParts   = 20_000 // times in which a holder held a lock that are searched for what it did
	maxChain         = 4      // locks of which each culprit waited for the next one
	leastChained     = 0.8    // part of the waiting that a culprit caused while it waited itself, from which that is why
)

// cost returns who waited for something, who held it or brought it about, and what the culprit waited for itself.
func (q *query) cost(found *contentions, top *costly, open map[int]*openWait) *viewapi.Cost {
	if !top.kind.Contended() {
		return q.costOfOthers(top, open)
	}
	first, seen := (*viewapi.Cost)(nil), []*contended{}
	next := top
	for at := &first; next != nil && len(seen) < maxChain && !slices.Contains(seen, next.contended); at = &(*at).Next {
		seen = append(seen, next.contended)
		*at, next = q.costOf(found, next, open)
	}
	return first
}

// costOf returns who waited for a lock and who held it, and the lock that the culprit waited for meanwhile, or nil.
func (q *query) costOf(found *contentions, c *costly, open map[int]*openWait) (cost *viewapi.Cost, next *costly) {
	waits := c.waits
	holders, known := q.lockHolders(c)
	share := func(of jvmthread.Time) float64 { return float64(of) / float64(max(waits.waited, 1)) }
	cost = &viewapi.Cost{
		CostRow: q.costRow(c.contended), Unit: wording.Unit(c.kind, q.sn.Site(c.site).Entry), Site: q.site(c.site), Holders: []viewapi.Holder{},
	}
	cost.Time, cost.Held = int64(waits.waited), int64(q.longestHold(waits))
	all := holders // which the sentence about the culprit has to account for
	if len(holders) > 0 {
		holders = slices.DeleteFunc(slices.Clone(holders), func(h lockHolder) bool { return h.waited < holders[0].waited/leastAnswerShare })
	}
	switch c.kind {
	case jvmthread.WaitLock:
		list := make([]contention.Holder, len(holders))
		for i := range holders {
			list[i] = contention.Holder{Name: q.sn.ThreadName(holders[i].thread), Share: share(holders[i].waited)}
		}
		if i := contention.Culprit(list, q.mostly(waits.threads)); i >= 0 {
			culprit := holders[i]
			holders = slices.Insert(slices.Delete(holders, i, i+1), 0, culprit)
			cost.Culprit = true
			if len(waits.threads) > 1 { // it may have had to wait for its turn
				delete(waits.threads, culprit.thread)
			}
			all = slices.DeleteFunc(all, func(h lockHolder) bool { return h.thread == culprit.thread })
		} else if share(known) < contention.MostlyKnown {
			cost.Unknown = 1 - share(known)
		} else if len(holders) > 1 {
			cost.Turns = q.turnsOf(holders, waits.threads)
		}
	default:
		if c.kind == jvmthread.WaitPermit && share(known) < contention.MostlyKnown {
			cost.Unknown = 1 - share(known)
		} else if len(holders) > 1 {
			cost.Turns = q.turnsOf(holders, waits.threads)
		}
	}
	cost.Nested = q.nested(found, c)
	if !cost.Culprit {
		all = holders
	}
	caused := map[int]jvmthread.Time{}
	for i := range all {
		caused[all[i].thread] = all[i].waited
	}
	cost.Others = q.threadGroups(caused)
	cost.Waiters, cost.Who = len(waits.threads), q.threadGroups(waits.threads)
	for i := range holders[:min(len(holders), maxAnswerHolders)] {
		out, iv := q.answerHolder(&holders[i], share)
		if i == 0 && cost.Culprit && iv != nil && kindOf(iv.As()) == kindBlocked && iv.State != jvmthread.StateDeadlocked && out.Part >= leastChained {
			if of := found.of[place{q.sn.Locks[iv.Lock].Class, iv.Stack, iv.Wait}]; of != nil {
				next = &costly{of, q.lockWaits(q.everyone(), []*contended{of})[0]}
			}
		}
		cost.Holders = append(cost.Holders, out)
	}
	cost.More = len(holders) - len(cost.Holders)
	cost.Exact = (cost.Unknown > 0 || len(holders) == 0) && q.lacksExact(waits.threads)
	q.addPending(cost, c, open)
	cost.Dumps = q.dumps(waits, firstOf(holders))
	return cost, next
}

// everyone selects all threads.
func (q *query) everyone() selection {
	s := selection{has: make([]bool, len(q.sn.Threads))}
	for i := range q.sn.Threads {
		s.has[i] = q.sn.Threads[i].Known
	}
	return s
}

// answerHolder describes a holder. The interval is the longest of what it did most; nil: that is not known.
func (q *query) answerHolder(h *lockHolder, share func(jvmthread.Time) float64) (viewapi.Holder, *store.Interval) {
	did := activities{}
	q.addActivities(did, h.thread, h.parts)
	out := viewapi.Holder{Thread: q.threadRef(h.thread), Time: int64(h.held), Waited: int64(h.waited), Share: share(h.waited)}
	most, all := did.most()
	if most == nil {
		return out, nil
	}
	iv, _ := q.numbered(most.iv.Thread, most.iv.Seq, most.iv.Start)
	out.Doing, out.Text, out.Stack = q.reference(&iv), most.text(q, &iv), q.stackOf(iv.Stack)
	out.Method, out.Length = q.sn.Site(iv.Stack).Function, int64(most.length)
	if all > 0 {
		out.Part = float64(most.time) / float64(all)
	}
	return out, &iv
}

// threadGroups returns the pools of threads with a time each, at most 3, those with the most time first.
func (q *query) threadGroups(threads map[int]jvmthread.Time) []viewapi.ThreadGroup {
	byPool := map[string]*viewapi.ThreadGroup{}
	for _, i := range slices.Sorted(maps.Keys(threads)) {
		name := q.sn.ThreadName(i)
		pool := contention.Pool(name)
		g := byPool[pool]
		if g == nil {
			g = &viewapi.ThreadGroup{Name: name}
			byPool[pool] = g
		}
		g.Name = contention.Common(g.Name, name)
		g.Threads++
		g.Time += int64(threads[i])
	}
	out := make([]viewapi.ThreadGroup, 0, len(byPool))
	for _, g := range byPool {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b viewapi.ThreadGroup) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Threads, a.Threads), cmp.Compare(a.Name, b.Name))
	})
	return out[:min(len(out), maxWho)]
}

// turnsOf returns what threads did while they held a lock.
func (q *query) turnsOf(holders []lockHolder, waiters map[int]jvmthread.Time) *viewapi.Turns {
	did, left := activities{}, maxAnswerParts
	out := viewapi.Turns{Own: true}
	for i := range holders {
		h := &holders[i]
		_, waited := waiters[h.thread]
		out.Own = out.Own && waited
		parts := h.parts[:min(len(h.parts), left)]
		left -= len(parts)
		q.addActivities(did, h.thread, parts)
	}
	if most, all := did.most(); most != nil && all > 0 {
		iv, _ := q.numbered(most.iv.Thread, most.iv.Seq, most.iv.Start)
		out.Text, out.Share = most.text(q, &iv), float64(most.time)/float64(all)
	}
	return &out
}

// mostly returns the pool whose threads waited longest.
func (q *query) mostly(waiters map[int]jvmthread.Time) (most string) {
	times := map[string]jvmthread.Time{}
	for i, time := range waiters {
		times[contention.Pool(q.sn.ThreadName(i))] += time
	}
	for pool, time := range times {
		if most == "" || time > times[most] || time == times[most] && pool < most {
			most = pool
		}
	}
	return most
}

// activity is what threads do: all intervals of the same kind in the same method together.
type activity struct {
	state    jvmthread.State
	wait     jvmthread.Wait
	function string
	run      wording.Run // if it is runnable
}

type activitySum struct {
	length        jvmthread.Time
	time, longest jvmthread.Time     // sums of the waits of others in that time
	iv            jvmthread.Interval // the longest
	run           wording.Run
}

type activities map[activity]*activitySum

// addActivities adds what a thread did while others waited for it.
func (q *query) addActivities(sums activities, thread int, parts []part) {
	for _, p := range parts[:min(len(parts), maxAnswerParts)] {
		c := q.sn.Walk(thread, p.from, p.to)
		for c.Next() {
			did, ok := p.within(c.Start, c.End)
			if !ok || c.State == jvmthread.StateUnknown && q.isDumped() { // between dumps
				continue
			}
			shown := c.Interval()
			iv := q.engineInterval(&shown)
			for piece := range window.Pieces(&iv, did.from, did.to, q.pauses(did.from, did.to)) {
				did.from, did.to = piece.Start, piece.End
				sums.add(q, did, &piece)
			}
		}
	}
}

// most returns the activity that caused most waiting, nil if there is none, and the waiting that all caused.
func (a activities) most() (most *activitySum, all jvmthread.Time) {
	for _, s := range a {
		all += s.time
		if most == nil || cmp.Or(cmp.Compare(s.time, most.time), cmp.Compare(most.iv.Start, s.iv.Start), cmp.Compare(s.run, most.run)) > 0 {
			most = s
		}
	}
	return most, all
}
