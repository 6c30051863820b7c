// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// leastAway is the part of the longest open wait for which threads that could end it must have ended none, so that what they do is why it lasts.
const leastAway = 0.5

// away returns the threads that could end open waits, with what they do since they last ended such a wait, if that was long ago. Those without a task are left
// out if others have one.
func (q *query) away(able map[int]bool, list []endedWait) []viewapi.Holder {
	var longest, last jvmthread.Time
	for i := range list {
		w := &list[i]
		switch {
		case w.open:
			longest = max(longest, w.to-w.from)
		case able[w.ender]:
			last = max(last, w.to)
		}
	}
	since := max(q.from, q.to-longest, last)
	var out []viewapi.Holder
	if float64(q.to-since) < leastAway*float64(longest) || q.isDumped() {
		return nil
	}
	idle := map[uint64]bool{}
	all := q.to - since
	for thread := range able {
		h := lockHolder{thread: thread, held: all, waited: all, parts: []part{{since, q.to, waiting{{at: since, threads: 1}, {at: q.to, before: all}}}}}
		holder, iv := q.answerHolder(&h, func(jvmthread.Time) float64 { return 0 })
		if iv == nil || holder.Text == "" || holder.Part < leastAway {
			return nil
		}
		idle[holder.Thread.ID] = iv.Wait.Idle()
		out = append(out, holder)
	}
	if busy := slices.DeleteFunc(slices.Clone(out), func(h viewapi.Holder) bool { return idle[h.Thread.ID] }); len(busy) > 0 {
		out = busy
	}
	slices.SortFunc(out, func(a, b viewapi.Holder) int {
		return cmp.Or(cmp.Compare(b.Length, a.Length), cmp.Compare(a.Thread.ID, b.Thread.ID))
	})
	return out[:min(len(out), maxAnswerHolders)]
}

// vain returns the call of notify before open waits that no thread heard, nil if none is known. It explains nothing if the threads checked what they wait for.
func (q *query) vain(c *costly) *viewapi.VainNotify {
	for _, inc := range slices.Backward(q.sn.Incidents) {
		if inc.Kind != store.KindLostNotify || !inc.Open || len(inc.Holds) == 0 {
			continue
		}
		for i := range inc.Waits {
			thread := q.sn.Thread(inc.Waits[i].Thread)
			if slices.ContainsFunc(c.waits.list, func(w endedWait) bool {
				return w.open && w.thread == thread && w.from <= inc.Waits[i].Start && inc.Waits[i].Start < w.to
			}) {
				by := &inc.Holds[0]
				return &viewapi.VainNotify{Thread: q.threadRef(q.sn.Thread(by.Thread)), At: q.rel(by.Start), Method: by.Function}
			}
		}
	}
	return nil
}

// lacksExact reports whether mostly virtual threads waited, and nothing is recorded of what wakes these.
func (q *query) lacksExact(threads map[int]jvmthread.Time) bool {
	if format := q.sn.Meta["weft.recording.format"]; format != "" && format != "native" {
		return false
	}
	var virtual, all jvmthread.Time
	for i, time := range threads {
		if all += time; q.sn.Threads[i].Virtual {
			virtual += time
		}
	}
	if virtual*2 < all || all == 0 {
		return false
	}
	exact := false
	q.sn.Edges(q.sn.From, q.sn.To, func(e store.Edge) bool {
		exact = (e.Kind == jvmthread.InteractionUnpark || e.Kind == jvmthread.InteractionStart) && q.sn.Threads[e.To].Virtual
		return !exact
	})
	return !exact
}
