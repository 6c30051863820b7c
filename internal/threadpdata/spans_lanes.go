// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// laneGap separates the starts of lanes. Jaeger's page sorts siblings by their start, which it counts in microseconds, and those that start
// together in no order. So that each state still lies within the span of its thread, the spans of lanes that last since the start of the window
// begin earlier, and with them the root: of 200 threads, the last one 0 us early, the first one 199 us, and the critical path and the root 200 us.
const laneGap = jvmthread.Time(time.Microsecond)

// lane is a thread in the order of the trace.
type lane struct {
	index int // in the window
	cost  time.Duration
	stuck bool // in a deadlock
}

// order finds the order of the threads that have a span: those in a deadlock, then what their waits cost, then by id.
func (e *Emitter) order() {
	w := e.window
	e.lanes = e.lanes[:0]
	for i, l := range w.Lanes {
		if !l.Hidden {
			e.lanes = append(e.lanes, lane{index: i, cost: w.Cost(i), stuck: l.Totals[jvmthread.StateDeadlocked].Time > 0})
		}
	}
	slices.SortStableFunc(e.lanes, func(a, b lane) int {
		if a.stuck != b.stuck {
			if a.stuck {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.cost, a.cost)
	})
	e.early = min(jvmthread.Time(len(e.lanes))*laneGap, max(0, w.Start))
}

// laneStart returns where the span of a thread, the nth one, starts if its first state starts at a time.
func (e *Emitter) laneStart(n int, first jvmthread.Time) jvmthread.Time {
	if first > e.window.Start {
		return first
	}
	return max(0, e.window.Start-jvmthread.Time(len(e.lanes)-1-n)*laneGap)
}

// maxFoldedNames bounds the names of folded threads on the root.
const maxFoldedNames = 5

// foldedNames lists the threads without a span, those of a pool together: http-exec-* (180), timer, and 3 more.
func (e *Emitter) foldedNames() string {
	type pool struct {
		name  string
		count int
	}
	var pools []pool
	for _, l := range e.window.Lanes {
		if !l.Hidden {
			continue
		}
		name := contention.Pool(e.threadName(l.Thread))
		at := slices.IndexFunc(pools, func(p pool) bool { return p.name == name })
		if at < 0 {
			at = len(pools)
			if at < maxPools {
				pools = append(pools, pool{name: name})
			} else {
				at--
				pools[at].name = ""
			}
		}
		pools[at].count++
	}
	slices.SortStableFunc(pools, func(a, b pool) int { return cmp.Compare(b.count, a.count) })
	var b strings.Builder
	named, more := 0, 0
	for _, p := range pools {
		if named == maxFoldedNames || p.name == "" {
			more += p.count
			continue
		}
		if named++; named > 1 {
			b.WriteString(", ")
		}
		b.WriteString(p.name)
		if p.count > 1 {
			b.WriteString(" (" + strconv.Itoa(p.count) + ")")
		}
	}
	if more > 0 {
		b.WriteString(" and " + strconv.Itoa(more) + " more")
	}
	return b.String()
}

// maxPools bounds the pools that foldedNames distinguishes.
const maxPools = 64

// foldedContended sums up the contended waits of all threads that have no span.
func foldedContended(w *window.Window) (sum window.Folded) {
	for _, l := range w.Lanes {
		sum.Count += l.Contended.Count
		sum.Time += l.Contended.Time
	}
	return sum
}
