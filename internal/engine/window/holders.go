// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"iter"
	"sort"
	"time"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Holder is a thread that held what another thread waited for.
type Holder struct {
	Thread jvmthread.ThreadID
	Time   time.Duration      // of the wait, within the window, in which it is known to have held it
	Doing  jvmthread.Interval // the longest interval of what it did longest meanwhile; Seq is NoSeq if that is not known, or not wanted
}

// Activities are what the holder of a lock did.
type Activities struct {
	did  [4]activity        // the longest ones; further ones replace the shortest
	most jvmthread.Time     // of one of them
	iv   jvmthread.Interval // the longest of that one
}

// activity is what a thread did in several intervals: all sleeps of one method are one activity, and so is all running.
type activity struct {
	time, longest jvmthread.Time
	iv            jvmthread.Interval // the longest
}

// Share returns which part of the wait the thread held what the wait was for, from 0 to 1.
func (h *Holder) Share(wait time.Duration) float64 {
	if wait <= 0 {
		return 0
	}
	return float64(h.Time) / float64(wait)
}

// A History says what threads did.
type History interface {
	// During calls Did with the intervals of a thread that overlap [from, to).
	During(id jvmthread.ThreadID, all *Activities, from, to jvmthread.Time)
}

// Did notes an interval of a thread that held the lock from one time to another, neither limited to the interval, given the pauses of the JVM.
func (all *Activities) Did(iv *jvmthread.Interval, from, to jvmthread.Time, pauses iter.Seq[jvmthread.Interval]) {
	for p := range Pieces(iv, from, to, pauses) {
		all.add(&p.Interval, p.End-p.Start)
	}
}

func (all *Activities) add(iv *jvmthread.Interval, d jvmthread.Time) {
	a := &all.did[0]
	for i := range all.did {
		b := &all.did[i]
		if b.time == 0 || b.iv.State == iv.State && b.iv.Wait == iv.Wait && b.iv.Stack == iv.Stack {
			a = b
			break
		}
		if b.time < a.time {
			a = b
		}
	}
	if a.iv.State != iv.State || a.iv.Wait != iv.Wait || a.iv.Stack != iv.Stack {
		*a = activity{}
	}
	a.time += d
	if d > a.longest {
		a.longest, a.iv = d, *iv
	}
	if a.time > all.most {
		all.most, all.iv = a.time, a.iv
	}
}

// Longest returns the longest interval of what the threads did longest; Seq is NoSeq if nothing is known.
func (all *Activities) Longest() jvmthread.Interval { return all.iv }

// Holders appends the threads that held what a contended wait was for, or kept a carrier for long while another waited for one, the longest
// first; held by means the first. Of a lock, their times add
// up to at most the length of the wait; the rest is not known. The holders of permits and of objects of a pool overlap. A thread that waits
// for the same lock is not its holder. If no hold is known, the owner that the JVM named, or the thread that handed the lock over, is the
// only holder, with no time. What they did is found for the given number of them.
func (w *Window) Holders(iv *jvmthread.Interval, out []Holder, doing int) []Holder {
	start, end := w.Clip(*iv)
	var holds []jvmthread.Hold
	switch {
	case iv.Wait == jvmthread.WaitCarrier:
		holds = w.MountsDuring(start, end)
	case HasHolders(iv.Wait):
		holds = w.HoldsOf(iv.Lock, start, end)
	default:
		return out
	}
	first := len(out)
	out = AppendHolders(out, iv.Thread, start, end, holds)
	if len(out) > first {
		FindDoing(out[first:min(first+doing, len(out))], w, start, end, holds, &w.did)
		return out
	}
	if iv.Wait == jvmthread.WaitCarrier {
		return out
	}
	var causes []jvmthread.Interaction
	if iv.Peer == jvmthread.NoThread || iv.Wait == jvmthread.WaitReenter {
		w.causes = w.AppendCauses(w.causes[:0], jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq})
		causes = w.causes
	}
	return AppendSupposedHolder(out, w, iv, start, end, causes, &w.did)
}

// HasHolders reports whether other threads hold what a wait is for.
func HasHolders(wait jvmthread.Wait) bool { return wait.Contended() || wait == jvmthread.WaitReenter }

// AppendHolders appends the threads that held a lock while a thread waited for it. The holds are in the order of their ends.
func AppendHolders(out []Holder, waiter jvmthread.ThreadID, start, end jvmthread.Time, holds []jvmthread.Hold) []Holder {
	first := len(out)
	for i := range holds {
		h := &holds[i]
		from, to := max(h.Start, start), min(h.End, end)
		if from >= to && h.Marks&jvmthread.HoldShared == 0 {
			break // only shared holds overlap
		}
		if from >= to || h.Thread == waiter {
			continue
		}
		at := first
		for at < len(out) && out[at].Thread != h.Thread {
			at++
		}
		if at == len(out) {
			out = append(out, Holder{Thread: h.Thread})
		}
		o := &out[at]
		o.Time += to.Sub(from)
	}
	sortHolders(out[first:])
	return out
}

// FindDoing finds what holders did while they held the lock, given the arguments of AppendHolders. It overwrites did.
func FindDoing(holders []Holder, past History, start, end jvmthread.Time, holds []jvmthread.Hold, did *Activities) {
	for i := range holders {
		o := &holders[i]
		*did = Activities{}
		for k := range holds {
			h := &holds[k]
			from, to := max(h.Start, start), min(h.End, end)
			if from >= to && h.Marks&jvmthread.HoldShared == 0 {
				break
			}
			if from < to && h.Thread == o.Thread {
				past.During(o.Thread, did, from, to)
			}
		}
		o.Doing = did.iv
	}
}

// fewHolders is how many holders are sorted by selection, which moves each at most twice.
const fewHolders = 64

// sortHolders sorts by time, the longest first, and then by thread.
func sortHolders(all []Holder) {
	if len(all) > fewHolders {
		sort.Sort(byTime(all))
		return
	}
	for i := range all {
		most := i
		for j := i + 1; j < len(all); j++ {
			if a, b := &all[j], &all[most]; a.Time > b.Time || a.Time == b.Time && a.Thread < b.Thread {
				most = j
			}
		}
		if most != i {
			all[i], all[most] = all[most], all[i]
		}
	}
}

// byTime sorts holders of which it is not known yet what they did. It moves only the rest, a seventh of a Holder.
type byTime []Holder

func (l byTime) Len() int { return len(l) }

func (l byTime) Less(i, j int) bool {
	a, b := &l[i], &l[j]
	return a.Time > b.Time || a.Time == b.Time && a.Thread < b.Thread
}

func (l byTime) Swap(i, j int) {
	a, b := &l[i], &l[j]
	a.Thread, a.Time, b.Thread, b.Time = b.Thread, b.Time, a.Thread, a.Time
}

// AppendSupposedHolder appends the holder of a lock of which no hold is known, if there is a candidate. The causes are what ended the wait.
// It overwrites did.
func AppendSupposedHolder(
	out []Holder, past History, iv *jvmthread.Interval, start, end jvmthread.Time, causes []jvmthread.Interaction, did *Activities,
) []Holder {
	id := iv.Peer
	if iv.Wait == jvmthread.WaitReenter { // its peer is the thread that it joins
		id = jvmthread.NoThread
	}
	if id == jvmthread.NoThread {
		for i := range causes {
			if causes[i].Kind == jvmthread.InteractionHandoff {
				id = causes[i].From.Thread
			}
		}
	}
	if id == jvmthread.NoThread || id == iv.Thread {
		return out
	}
	*did = Activities{}
	past.During(id, did, start, end)
	return append(out, Holder{Thread: id, Doing: did.iv})
}

// HoldsOf returns the holds of a lock that end after start, in the order of their ends, without those of which it is clear that they begin after
// end: of a busy semaphore there may be very many.
func (w *Window) HoldsOf(id jvmthread.LockID, start, end jvmthread.Time) []jvmthread.Hold {
	first := w.holdsBefore(id, start)
	if first < len(w.Holds) && w.Holds[first].Lock == id && w.Holds[first].Marks&jvmthread.HoldShared != 0 {
		return w.Holds[first:w.holdsBefore(id, end+w.longestShare)]
	}
	stop := first
	for stop < len(w.Holds) && w.Holds[stop].Lock == id && (w.Holds[stop].Start < end || w.Holds[stop].Marks&jvmthread.HoldShared != 0) {
		stop++
	}
	return w.Holds[first:stop]
}

// holdsBefore returns the number of holds that come before those of a lock that end after a time. It is called for each contended wait.
func (w *Window) holdsBefore(id jvmthread.LockID, end jvmthread.Time) int {
	low, high := 0, len(w.Holds)
	for low < high {
		mid := int(uint(low+high) / 2)
		h := &w.Holds[mid]
		before := h.End <= end
		switch {
		case h.Lock.Class != id.Class:
			before = h.Lock.Class < id.Class
		case h.Lock.Hash != id.Hash:
			before = h.Lock.Hash < id.Hash
		}
		if before {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// During implements [History].
func (w *Window) During(id jvmthread.ThreadID, all *Activities, from, to jvmthread.Time) {
	if l := w.lane(id); l != nil {
		l.during(all, from, to, w.Pauses(from, to))
	}
}

// IntervalsOf returns the intervals of a thread that overlap [from, to), in order.
func (w *Window) IntervalsOf(id jvmthread.ThreadID, from, to jvmthread.Time) iter.Seq[jvmthread.Interval] {
	return w.lane(id).intervals(from, to)
}

// intervals works for no lane, too.
func (l *Lane) intervals(from, to jvmthread.Time) iter.Seq[jvmthread.Interval] {
	return func(yield func(jvmthread.Interval) bool) {
		if l == nil {
			return
		}
		for i := l.at(from); i < l.Intervals.Len() && l.Intervals.Start(i) < to; i++ {
			if !yield(l.Intervals.At(i)) {
				return
			}
		}
	}
}

// Walk calls visit with the intervals of a thread that overlap [from, to), in order. It is fast if the times of its calls for a thread ascend.
func (w *Window) Walk(id jvmthread.ThreadID, from, to jvmthread.Time, visit func(l *Lane, i int)) {
	l := w.lane(id)
	if l == nil || from >= to {
		return
	}
	i := l.near(l.cursor, from)
	for ; i < l.Intervals.Len() && l.Intervals.Start(i) < to; i++ {
		visit(l, i)
		l.cursor = i
	}
}

func (l *Lane) during(all *Activities, from, to jvmthread.Time, pauses iter.Seq[jvmthread.Interval]) {
	for i := l.at(from); i < l.Intervals.Len() && l.Intervals.Start(i) < to; i++ {
		iv := l.Intervals.At(i)
		all.Did(&iv, from, to, pauses)
	}
}
