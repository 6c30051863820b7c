// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"cmp"
	"iter"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// cause is an interaction that released the thread of a lane, without what its lane and the interval state: half the size of an Interaction.
// The effect is at the end of the interval or, of a start, at its start; the lock is that of the interval.
type cause struct {
	time       jvmthread.Time
	thread     jvmthread.ThreadID
	from, to   jvmthread.Seq
	stack      jvmthread.StackID
	kind       jvmthread.InteractionKind
	confidence jvmthread.Confidence
}

func (l *Lane) addCause(ia *jvmthread.Interaction) {
	l.causes = append(l.causes, cause{})
	c := &l.causes[len(l.causes)-1]
	c.time, c.thread, c.from, c.to, c.stack, c.kind, c.confidence = ia.CauseTime, ia.From.Thread, ia.From.Seq, ia.To.Seq, ia.Stack, ia.Kind, ia.Confidence
}

// interaction returns a cause as an interaction, given the index of the interval that it ended.
func (l *Lane) interaction(c *cause, index int) jvmthread.Interaction {
	ia := jvmthread.Interaction{
		CauseTime: c.time, EffectTime: l.Intervals.End(index), From: jvmthread.IntervalRef{Thread: c.thread, Seq: c.from},
		To: jvmthread.IntervalRef{Thread: l.Thread, Seq: c.to}, Lock: l.Intervals.Lock(index), Stack: c.stack, Kind: c.kind, Confidence: c.confidence,
	}
	if c.kind == jvmthread.InteractionStart {
		ia.EffectTime = l.Intervals.Start(index)
	}
	return ia
}

// sortCauses sorts the causes by the interval that they ended, and drops those of intervals that are not in the lane. Only late notifies
// arrive out of order.
func (l *Lane) sortCauses() {
	byEffect := func(a, b cause) int { return cmp.Compare(a.to, b.to) }
	if !slices.IsSortedFunc(l.causes, byEffect) {
		slices.SortStableFunc(l.causes, byEffect)
	}
	l.causes = slices.DeleteFunc(l.causes, func(c cause) bool { return l.Intervals.Index(c.to) < 0 })
}

// Interactions yields the interactions that released the thread in the window, by the interval that they ended.
func (l *Lane) Interactions() iter.Seq[jvmthread.Interaction] {
	return func(yield func(jvmthread.Interaction) bool) {
		for i := range l.causes {
			c := &l.causes[i]
			if !yield(l.interaction(c, l.Intervals.Index(c.to))) {
				return
			}
		}
	}
}

// AppendCauses appends the interactions that ended the interval at an index, usually one. It is fastest for intervals in order.
func (l *Lane) AppendCauses(out []jvmthread.Interaction, index int) []jvmthread.Interaction {
	seq := l.Intervals.Seq(index)
	for i := l.firstCause(seq); i < len(l.causes) && l.causes[i].to == seq; i++ {
		out = append(out, l.interaction(&l.causes[i], index))
	}
	return out
}

// firstCause returns the index of the first cause of an interval or of a later one. The search starts where the previous one ended.
func (l *Lane) firstCause(seq jvmthread.Seq) int {
	low, high := 0, len(l.causes)
	if at := l.causeCursor; at < high && l.causes[at].to < seq {
		if low = at + 1; low == high || l.causes[low].to >= seq {
			high = low
		}
	} else if at <= high && (at == 0 || l.causes[at-1].to < seq) {
		low, high = at, at
	}
	for low < high {
		if mid := int(uint(low+high) / 2); l.causes[mid].to < seq {
			low = mid + 1
		} else {
			high = mid
		}
	}
	l.causeCursor = low
	return low
}

// Interactions yields the interactions whose effect is in the window: lane by lane, by the interval they ended.
func (w *Window) Interactions() iter.Seq[jvmthread.Interaction] {
	return func(yield func(jvmthread.Interaction) bool) {
		for _, l := range w.Lanes {
			for ia := range l.Interactions() {
				if !yield(ia) {
					return
				}
			}
		}
	}
}

// CountInteractions returns the number of interactions.
func (w *Window) CountInteractions() (n int) {
	for _, l := range w.Lanes {
		n += len(l.causes)
	}
	return n
}

// AppendCauses appends the interactions that ended an interval, usually one.
func (w *Window) AppendCauses(out []jvmthread.Interaction, ref jvmthread.IntervalRef) []jvmthread.Interaction {
	l, i := w.place(ref)
	if l < 0 {
		return out
	}
	return w.Lanes[l].AppendCauses(out, i)
}
