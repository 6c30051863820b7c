// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"iter"

	"github.com/weft-otel/weft/internal/engine/criticalpath"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/viewapi"
)

// pauses returns the pauses of the JVM that overlap [from, to), and what is between them.
func (q *query) pauses(from, to jvmthread.Time) iter.Seq[jvmthread.Interval] {
	return func(yield func(jvmthread.Interval) bool) {
		thread := q.sn.Thread(jvmthread.PausesThread)
		if thread == 0 {
			return
		}
		for c := q.sn.Walk(thread, from, to); c.Next(); {
			if iv := c.Interval(); !yield(q.engineInterval(&iv)) {
				return
			}
		}
	}
}

// pieces yields a segment of a path, cut at the pauses of the JVM if its thread ran.
func (q *query) pieces(seg *criticalpath.Segment) iter.Seq[window.Piece] {
	iv := jvmthread.Interval{State: jvmthread.StateUnknown, Start: seg.Start, End: seg.End}
	if seg.Kind == criticalpath.KindRun {
		iv.State = jvmthread.StateRunnable
	}
	return window.Pieces(&iv, seg.Start, seg.End, q.pauses(seg.Start, seg.End))
}

// pauseSums adds up the pauses of the range. One that was cut into pieces by windows counts once.
func (q *query) pauseSums() (sum viewapi.Pauses) {
	for iv := range q.pauses(q.from, q.to) {
		if iv.Wait != jvmthread.WaitPause {
			continue
		}
		if !iv.Marks.Has(jvmthread.MarkContinues) || sum.Count == 0 {
			sum.Count++
		}
		sum.Time += q.clip(iv.Start, iv.End)
		sum.Longest = max(sum.Longest, int64(iv.End-iv.Began()))
	}
	return sum
}
