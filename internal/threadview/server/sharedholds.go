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

func isShared(h store.Hold) bool { return h.Marks&jvmthread.HoldShared != 0 }

// sharedRuns returns runs of holds that overlap, by start: a run for each time with the same number of holders, but none shorter than a step
// unless the lock is free before and after it.
func (q *query) sharedRuns(list []store.Hold, step int64, seen []bool) []viewapi.HoldRun {
	type turn struct {
		at   jvmthread.Time
		hold int // index; negative: ^index of the one that ends
	}
	turns := make([]turn, 0, 2*len(list))
	for i := range list {
		start, end := max(list[i].Start, q.from), min(list[i].End, q.to)
		turns = append(turns, turn{start, i}, turn{end, ^i})
	}
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.hold, b.hold)) })
	out := []viewapi.HoldRun{}
	var holders []int // of the current time, in the order in which they began
	for i, t := range turns {
		if t.hold < 0 {
			holders = slices.DeleteFunc(holders, func(h int) bool { return h == ^t.hold })
		} else {
			holders = append(holders, t.hold)
		}
		if len(holders) == 0 || i+1 == len(turns) || turns[i+1].at == t.at {
			continue
		}
		h := &list[holders[0]]
		run := viewapi.HoldRun{
			From: q.rel(t.at), To: q.rel(turns[i+1].at), Thread: q.id(h.Thread), Holds: len(holders), Threads: len(holders), Marks: int(h.Marks),
		}
		run.Time = run.To - run.From
		seen[h.Thread] = true
		if n := len(out); n > 0 && out[n-1].To == run.From && (out[n-1].Threads == run.Threads || min(run.Time, out[n-1].Time) < step) {
			last := &out[n-1]
			if run.Time > last.Time {
				last.Thread = run.Thread
			}
			last.To, last.Time, last.Marks = run.To, last.Time+run.Time, last.Marks|run.Marks
			last.Holds, last.Threads = max(last.Holds, run.Holds), max(last.Threads, run.Threads)
			continue
		}
		out = append(out, run)
	}
	return out
}
