// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/api"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store"
	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/store/sums"
	"github.com/weft-otel/weft/internal/jvmthread"
)

func statsOf(t *sums.Tally) api.Stats {
	s := api.Stats{Count: t.Count, Time: t.Time, Seen: t.Seen}
	s.First, s.Buckets = t.Buckets()
	if t.Seen > 0 {
		s.Min, s.Max, s.Average = t.Min, t.Max, t.Sum/t.Seen
		s.P50, s.P95, s.P99 = t.Quantile(50), t.Quantile(95), t.Quantile(99)
	}
	return s
}

// kind is a way of standing still, as the tables tell them apart.
type kind uint8

const (
	kindNone kind = iota
	kindBlocked
	kindWaited
	kindReenter
	kindParked
	kindJoined
	kindSleeping
	numKinds
)

func kindWords() []string {
	return []string{"", "blocked", "waited", "reenter", "parked", "joined", "sleeping"}
}

// kindOf is what a state counts as. A deadlocked thread is blocked, for good.
func kindOf(s jvmthread.State) kind {
	switch s {
	case jvmthread.StateBlocked, jvmthread.StateDeadlocked:
		return kindBlocked
	case jvmthread.StateWaiting:
		return kindWaited
	case jvmthread.StateReentering:
		return kindReenter
	case jvmthread.StateParked:
		return kindParked
	case jvmthread.StateJoining:
		return kindJoined
	case jvmthread.StateSleeping:
		return kindSleeping
	case jvmthread.StateUnknown, jvmthread.StateRunnable, jvmthread.StateSuspended, jvmthread.StateDead:
	}
	return kindNone
}

// cover returns the rollups whose sums answer for a part of the range: of all threads, for a table of which none is left out.
func (q *query) cover(sel selection, has func(*store.Rollup) bool) store.Cover {
	if !sel.all || q.view.cfg.NoRollups {
		return store.Cover{}
	}
	return q.sn.Cover(q.from, q.to, has)
}

// began reports whether a wait began within the range, and not only went on in another state.
func (q *query) began(c *store.Cursor) bool { return c.Start >= q.from && !c.State.Continues() }
