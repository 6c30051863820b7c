// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"cmp"
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// maxPast is the number of earlier windows that a link can refer to. A cause is rarely older than the previous window.
const maxPast = 4

// Past records which spans of an earlier window exist.
type Past struct {
	Start, End jvmthread.Time
	threads    []jvmthread.ThreadID    // that have a span, ascending
	all        bool                    // every interval of these threads has a span
	intervals  []jvmthread.IntervalRef // otherwise the intervals that have a span, ascending
}

func (w *Window) asPast() Past {
	p := Past{Start: w.Start, End: w.End, all: !w.selected}
	for _, l := range w.Lanes {
		if l.Hidden {
			continue
		}
		p.threads = append(p.threads, l.Thread)
		if p.all {
			continue
		}
		for i := range l.Intervals {
			if l.Kept(i) {
				p.intervals = append(p.intervals, jvmthread.IntervalRef{Thread: l.Thread, Seq: l.Intervals[i].Seq})
			}
		}
	}
	return p
}

func (p *Past) target(ref jvmthread.IntervalRef) (Target, bool) {
	if _, ok := slices.BinarySearch(p.threads, ref.Thread); !ok {
		return Target{}, false
	}
	_, ok := slices.BinarySearchFunc(p.intervals, ref, compareRefs)
	return Target{Window: p.Start, Ref: ref, Folded: !ok && !p.all}, true
}

func compareRefs(a, b jvmthread.IntervalRef) int {
	return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Seq, b.Seq))
}

// Earlier returns the span of the same interval in the previous window, if the interval began before this window.
func (w *Window) Earlier(iv jvmthread.Interval) (Target, bool) {
	if iv.Start >= w.Start || len(w.past) == 0 {
		return Target{}, false
	}
	t, ok := w.past[len(w.past)-1].target(jvmthread.IntervalRef{Thread: iv.Thread, Seq: iv.Seq})
	return t, ok && !t.Folded
}
