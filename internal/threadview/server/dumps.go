// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"slices"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/viewapi"
)

// isDumped reports whether the history is what thread dumps show: moments, whose states have no length.
func (q *query) isDumped() bool { return q.sn.Meta[threadpdata.AttrDumps] != "" }

// dumps counts the dumps of the range, and those in which threads waited for something, and which show its first holder; nil: there are none.
func (q *query) dumps(w *lockWaits, holder *lockHolder) *viewapi.Dumped {
	if !q.isDumped() {
		return nil
	}
	times := slices.DeleteFunc(threadpdata.DumpTimes(q.sn.Meta[threadpdata.AttrDumps]), func(at jvmthread.Time) bool { return at < q.from || at >= q.to })
	out := &viewapi.Dumped{Taken: len(times)}
	for _, at := range times {
		if w != nil && w.includes(at) {
			out.Waited++
		}
		if holder != nil && includes(holder.parts, at) {
			out.Held++
		}
	}
	if threadpdata.DumpsHaveTimes(times) {
		out.Over = int64(times[len(times)-1] - times[0])
	}
	return out
}

// includes reports whether a thread waits at a time.
func (w *lockWaits) includes(at jvmthread.Time) bool {
	for _, parts := range w.parts {
		if includes(parts, at) {
			return true
		}
	}
	return slices.ContainsFunc(w.list, func(e endedWait) bool { return e.from <= at && at < e.to })
}

func includes(parts []part, at jvmthread.Time) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return p.from <= at && at < p.to })
}

// firstOf returns the first of some holders; nil: there is none.
func firstOf(holders []lockHolder) *lockHolder {
	if len(holders) == 0 {
		return nil
	}
	return &holders[0]
}
