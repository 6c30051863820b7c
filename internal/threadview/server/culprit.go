// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

const (
	maxAnswerHolders = 5
	leastAnswerShare = 20     // holders that caused less than this part of what the first one did are not listed
	maxNamed         = 3      // more holders of permits, or of objects of a pool, are described by what they did
	maxAnswerParts   = 20_000 // times in which a holder held a lock that are searched for what it did
)

// addHolders adds who waited and who held what they waited for.
func (q *query) addHolders(cost *viewapi.Cost, c *contended, sel selection) {
	waiters := c.threads.List()
	holders, waited, known := q.lockHolders(sel, c.places)
	share := func(of jvmthread.Time) float64 { return float64(of) / float64(max(waited, 1)) }
	if c.kind == jvmthread.WaitLock {
		list := make([]contention.Holder, len(holders))
		for i := range holders {
			list[i] = contention.Holder{Name: q.sn.ThreadName(holders[i].thread), Share: share(holders[i].waited)}
		}
		if i := contention.Culprit(list, q.mostly(waiters)); i >= 0 {
			culprit := holders[i]
			holders = slices.Insert(slices.Delete(holders, i, i+1), 0, culprit)
			cost.Culprit = true
			// It may have had to wait for its turn.
			if others := slices.DeleteFunc(slices.Clone(waiters), func(i int) bool { return i == culprit.thread }); len(others) > 0 {
				waiters = others
			}
		} else if share(known) < contention.MostlyKnown {
			cost.Unknown = 1 - share(known)
		} else if len(holders) > 1 {
			cost.Turns = q.turnsOf(holders, waiters)
		}
	} else if len(holders) > maxNamed {
		cost.Turns = q.turnsOf(holders, waiters)
	}
	cost.Waiters, cost.Pool = len(waiters), q.poolOf(waiters)
	for i := range holders[:min(len(holders), maxAnswerHolders)] {
		h := &holders[i]
		did := activities{}
		q.addActivities(did, h.thread, h.parts)
		out := viewapi.Holder{Thread: q.threadRef(h.thread), Time: int64(h.held), Waited: int64(h.waited), Share: share(h.waited)}
		if most, _ := did.most(); most != nil {
			out.Doing, out.Text, out.Stack = q.reference(&most.iv), q.activity(&most.iv), q.stackOf(most.iv.Stack)
		}
		cost.Holders = append(cost.Holders, out)
	}
	cost.More = len(holders) - len(cost.Holders)
}

// turnsOf returns what threads did while they held a lock.
func (q *query) turnsOf(holders []lockHolder, waiters []int) *viewapi.Turns {
	waited := make(map[int]bool, len(waiters))
	for _, i := range waiters {
		waited[i] = true
	}
	did, left := activities{}, maxAnswerParts
	out := viewapi.Turns{Own: true}
	for i := range holders {
		h := &holders[i]
		out.Own = out.Own && waited[h.thread]
		parts := h.parts[:min(len(h.parts), left)]
		left -= len(parts)
		q.addActivities(did, h.thread, parts)
	}
	if most, all := did.most(); most != nil && all > 0 {
		out.Text, out.Share = q.activity(&most.iv), float64(most.time)/float64(all)
	}
	return &out
}

// mostly returns the pool with most of the threads.
func (q *query) mostly(threads []int) (most string) {
	count := map[string]int{}
	for _, i := range threads {
		pool := contention.Pool(q.sn.ThreadName(i))
		if count[pool]++; count[pool] > count[most] || count[pool] == count[most] && pool < most {
			most = pool
		}
	}
	return most
}

// poolOf returns what the names of threads of one pool have in common, or an empty string if they are of several.
func (q *query) poolOf(threads []int) (common string) {
	pools := q.sn.Pools()
	for n, i := range threads {
		switch name := q.sn.ThreadName(i); {
		case pools[i] != pools[threads[0]] || len(threads) > 1 && pools[i] == "":
			return ""
		case n == 0:
			common = name
		default:
			common = sameNumbers(common, name)
		}
	}
	return common
}

// sameNumbers returns the first name with a star for each number that differs in the second. The names differ in numbers only.
func sameNumbers(a, b string) string {
	var out strings.Builder
	number := func(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789*")) }
	for a != "" && b != "" {
		n, m := number(a), number(b)
		switch {
		case n == 0 || m == 0:
			out.WriteByte(a[0])
			n, m = 1, 1
		case a[:n] == b[:m]:
			out.WriteString(a[:n])
		default:
			out.WriteByte('*')
		}
		a, b = a[n:], b[m:]
	}
	return out.String()
}

// activity is what threads do: all intervals of the same kind in the same method together.
type activity struct {
	state    jvmthread.State
	wait     jvmthread.Wait
	function string
}

type activitySum struct {
	time, longest jvmthread.Time // sums of the waits of others in that time
	iv            store.Interval // the longest
}

type activities map[activity]*activitySum

// addActivities adds what a thread did while others waited for it.
func (q *query) addActivities(sums activities, thread int, parts []part) {
	for _, p := range parts[:min(len(parts), maxAnswerParts)] {
		c := q.sn.Walk(thread, p.from, p.to)
		for c.Next() {
			did, ok := p.within(c.Start, c.End)
			if !ok {
				continue
			}
			length := did.waited()
			k := activity{c.State, c.Wait(), q.sn.Site(c.Stack()).Function}
			s := sums[k]
			if s == nil {
				s = &activitySum{longest: -1}
				sums[k] = s
			}
			if s.time += length; length > s.longest {
				s.longest, s.iv = length, c.Interval()
			}
		}
	}
}

// most returns the activity that caused most waiting, nil if there is none, and the waiting that all caused.
func (a activities) most() (most *activitySum, all jvmthread.Time) {
	for _, s := range a {
		all += s.time
		if most == nil || s.time > most.time || s.time == most.time && s.iv.Start < most.iv.Start {
			most = s
		}
	}
	return most, all
}
