// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// queue is the waits of an episode, to find how much time was blocked in a part of it.
type queue struct {
	starts, ends       []jvmthread.Time // each ascending
	startSums, endSums []jvmthread.Time // of those before, relative to the start of the episode
	origin             jvmthread.Time
}

func (q *queue) fill(e *episodes, first, last int32, origin jvmthread.Time) {
	q.starts, q.ends, q.origin = q.starts[:0], q.ends[:0], origin
	for _, i := range e.order[first : last+1] {
		q.starts = append(q.starts, e.waits[i].start)
		q.ends = append(q.ends, e.waits[i].end)
	}
	slices.Sort(q.ends)
	q.startSums, q.endSums = sums(q.startSums[:0], q.starts, q.origin), sums(q.endSums[:0], q.ends, q.origin)
}

func sums(out, times []jvmthread.Time, origin jvmthread.Time) []jvmthread.Time {
	out = append(out, 0)
	for i, t := range times {
		out = append(out, out[i]+t-origin)
	}
	return out
}

// until returns how much time was blocked before a time.
func (q *queue) until(t jvmthread.Time) jvmthread.Time {
	t = max(t, q.origin)
	begun, over := before(q.starts, t), before(q.ends, t)
	return jvmthread.Time(begun-over)*(t-q.origin) - q.startSums[begun] + q.endSums[over]
}

func before(times []jvmthread.Time, t jvmthread.Time) int {
	return sort.Search(len(times), func(i int) bool { return times[i] >= t })
}

// holds adds the holds of the root and, of an incident of several windows, of the locks after which it may be named yet. Holds of semaphores
// overlap: the number of those that are looked at for the latter is bounded, and their holders are then unknown.
func (f *Finder) holds(w *window.Window, g *group, inc *Incident, several bool) {
	for n := g.head; n >= 0; n = f.episodes.list[n].next {
		ep := &f.episodes.list[n]
		if inc.named(f.episodes.awaited[ep.lock]) || several && f.steps > 0 {
			f.holdsOf(w, ep, inc)
		}
	}
	inc.fillHolds(w)
}

// holdsOf adds the holds of a lock during an episode.
func (f *Finder) holdsOf(w *window.Window, ep *episode, inc *Incident) {
	f.queue.fill(&f.episodes, ep.first, ep.last, ep.start)
	of := f.episodes.awaited[ep.lock]
	until := make(map[jvmthread.ThreadID]jvmthread.Time) // of a pool: the holds for single waits of it overlap
	n := ep.first - 1
	last := int32(-1)
	for i, h := range f.episodes.heldDuring(w, ep) {
		f.steps--
		from, to := max(h.Start, ep.start), min(h.End, ep.end)
		if i >= 0 {
			wt := &f.episodes.waits[i]
			from, to = max(from, wt.start), min(to, wt.end)
			if i != last {
				for n++; f.episodes.order[n] != i; {
					n++
				}
				last = i
				f.queue.fill(&f.episodes, n, n, ep.start)
			}
		}
		if from >= to {
			continue
		}
		blocked, held := time.Duration(f.queue.until(to)-f.queue.until(from)), to.Sub(from)
		if i >= 0 {
			held = to.Sub(min(max(from, until[h.Thread]), to))
			until[h.Thread] = max(until[h.Thread], to)
		}
		inc.holder(threadAt{h.Thread, of}).add(blocked, held)
		hold := Hold{Start: from, End: to, Since: h.Start, Of: of, Thread: h.Thread, Blocked: blocked, fresh: true}
		f.activitiesOf(w, inc, hold)
		inc.addHold(&hold)
	}
}

func (inc *Incident) holder(at threadAt) *Holder {
	holder := inc.holders[at]
	if holder == nil {
		holder = &Holder{Thread: at.thread}
		if len(inc.holders) < maxThreads {
			inc.holders[at] = holder
		}
	}
	return holder
}

// manyHolds bounds the holds that an incident keeps: more than it shows, since one that is not over may become one of the costliest.
const manyHolds = 4 * MaxHolds

// addHold adds a hold. The last part of a hold that was not over at the end of the previous window becomes longer.
func (inc *Incident) addHold(h *Hold) {
	for i := range inc.holds {
		if old := &inc.holds[i]; !old.fresh && old.Thread == h.Thread && old.Of == h.Of && old.End == h.Start && old.Since == h.Since {
			old.End, old.Blocked, old.fresh = h.End, old.Blocked+h.Blocked, true
			return
		}
	}
	inc.keepHold(h)
}

// keepHold keeps a hold if it is one of the costliest, those of the root first.
func (inc *Incident) keepHold(h *Hold) {
	if len(inc.holds) < manyHolds {
		inc.holds = append(inc.holds, *h)
		return
	}
	least := &inc.holds[0]
	for i := range inc.holds {
		if inc.cheaper(&inc.holds[i], least) {
			least = &inc.holds[i]
		}
	}
	if inc.cheaper(least, h) {
		*least = *h
	}
}

// cheaper reports whether the first hold is rather dropped than the second one.
func (inc *Incident) cheaper(a, b *Hold) bool {
	if x, y := inc.named(a.Of), inc.named(b.Of); x != y {
		return y
	}
	return a.Blocked < b.Blocked
}

// fillHolds finds what the holders did in the window.
func (inc *Incident) fillHolds(w *window.Window) {
	for i := range inc.holds {
		h := &inc.holds[i]
		if !h.fresh {
			continue
		}
		h.fresh = false
		from := max(h.Start, w.Start)
		var did window.Activities
		doing := []window.Holder{{Thread: h.Thread}}
		window.FindDoing(doing, w, from, h.End, []jvmthread.Hold{{Start: from, End: h.End, Thread: h.Thread}}, &did)
		iv := doing[0].Doing
		if d := min(iv.End, h.End) - max(iv.Start, from); iv.Seq != jvmthread.NoSeq && d > h.doing {
			h.Doing, h.doing = iv, d
			h.Target, h.HasSpan = w.Target(jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq}, w.Start)
		}
	}
}

// finishHolds chooses the costliest holds, and sorts the holders.
func (inc *Incident) finishHolds() {
	inc.holds = slices.DeleteFunc(inc.holds, func(h Hold) bool { return !inc.named(h.Of) })
	slices.SortFunc(inc.holds, func(a, b Hold) int {
		return cmp.Or(cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Thread, b.Thread))
	})
	inc.Holds = inc.holds[:min(len(inc.holds), MaxHolds)]
	slices.SortFunc(inc.Holds, func(a, b Hold) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Thread, b.Thread)) })
	root := inc.Root().ID
	for at, h := range inc.holders {
		if at.of == root {
			inc.Holders = append(inc.Holders, *h)
		}
	}
	slices.SortFunc(inc.Holders, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(a.Thread, b.Thread))
	})
}
