// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"maps"
	"slices"

	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
	"github.com/weft-otel/weft/internal/wording"
)

func (t *holderSumsTable) row(k holderKey, s *holderSums) viewapi.HolderRow {
	row := t.sum(s)
	row.Lock, row.Class, row.Kind = t.locks[k.lock].name, t.locks[k.lock].class, t.kinds[k.lock].String()
	switch {
	case k.thread == unknownHolder:
		row.What = viewapi.HolderUnknown
	case k.thread == otherHolders:
		row.What = viewapi.HolderOthers
	case k.pool != "":
		row.What, row.Holder = viewapi.HolderPool, k.pool
	default:
		row.What, row.Holder, row.ID = viewapi.HolderThread, t.q.sn.ThreadName(k.thread), t.q.id(k.thread)
		row.Threads = 1
	}
	t.addDid(&row, s)
	return row
}

// sum returns the row of sums that may be of several holders.
func (t *holderSumsTable) sum(s *holderSums) viewapi.HolderRow {
	locks, waiters := s.locks.List(), s.waiters.List()
	row := viewapi.HolderRow{
		Objects: len(locks), Threads: s.threads.Len(), Waits: s.Count, Time: s.Time, Longest: int64(s.longest), Waiters: len(waiters), Who: t.who(waiters),
	}
	if len(locks) == 1 {
		row.LockID = uint32(locks[0])
	}
	if w := s.wait; w != nil {
		thread := int(w.thread)
		if iv, ok := t.q.sn.Numbered(thread, w.seq, w.from); ok {
			row.Wait = t.q.reference(&iv)
		}
	}
	return row
}

// who returns the pools or names of threads, those with the most threads first.
func (t *holderSumsTable) who(threads []int) []string {
	count, pools := map[string]int{}, t.q.sn.Pools()
	for _, i := range threads {
		count[cmp.Or(pools[i], t.q.sn.ThreadName(i))]++
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		if count[name] == 1 { // of a pool, but alone
			one := slices.IndexFunc(threads, func(i int) bool { return cmp.Or(pools[i], t.q.sn.ThreadName(i)) == name })
			names[i] = t.q.sn.ThreadName(threads[one])
		}
		if i == maxWho-1 {
			break
		}
	}
	return append([]string{}, names[:min(len(names), maxWho)]...)
}

// addDid adds in which method a holder was longest while others waited, and what it did longest.
func (t *holderSumsTable) addDid(row *viewapi.HolderRow, s *holderSums) {
	methods, texts := map[string]int64{}, map[string]int64{}
	for d, h := range s.did {
		site := t.q.sn.Site(d.stack)
		if site.Function != "" {
			methods[site.Function] += h.Time
		}
		if text := t.doingText(d, h, site.Function); text != "" {
			texts[text] += h.Time
		}
	}
	row.Method, _ = mostOf(methods)
	var time int64
	row.Doing, time = mostOf(texts)
	if row.Time > 0 {
		row.DoingShare = float64(time) / float64(row.Time)
	}
}

// doingText says what a holder did: "asleep in Report.write". A running thread is only known to be in a method if something else observed it.
func (t *holderSumsTable) doingText(d doing, h *held, function string) string {
	if d.taken {
		return wording.Doing(d.state, 0, "", "")
	}
	iv := store.Interval{State: d.state}
	if found, ok := t.q.sn.At(h.thread, h.when); ok {
		iv = found
	}
	site := t.q.sn.Site(iv.Stack)
	return wording.Doing(d.state, iv.Wait, wording.Object(iv.Wait, t.q.sn.Class(iv.Lock), site.Lock, site.Entry), function)
}

// mostOf returns the text with the most time; of equal ones the first in alphabetical order.
func mostOf(all map[string]int64) (most string, time int64) {
	for text, n := range all {
		if most == "" || n > time || n == time && text < most {
			most, time = text, n
		}
	}
	return most, time
}
