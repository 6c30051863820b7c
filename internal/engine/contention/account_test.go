// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contention_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
)

func config() *contention.Config {
	return &contention.Config{
		Buckets: []time.Duration{10, 100, 1000}, StuckAfter: 50, Exemplars: 4, MaxSeries: 1000, Expiry: time.Hour,
		Budget: &contention.Budget{Limit: 1 << 20},
	}
}

// sums are the sums of statements over all series.
type sums struct {
	contentions, waits, durations          uint64
	blocked, inBlocked, inWaits, heldTimes time.Duration
	states                                 contention.States
	handoffs, events                       uint64
}

func (s *sums) add(st *contention.Statement) {
	for _, b := range st.Blocked {
		s.contentions += b.Value.Count
		s.blocked += b.Value.Time
		for _, h := range b.Value.Durations {
			s.histogram(h, &s.inBlocked)
		}
	}
	for _, w := range st.Waits {
		s.waits += w.Value.Count
		for _, h := range w.Value.Durations {
			s.histogram(h, &s.inWaits)
		}
	}
	for _, c := range st.Classes {
		s.handoffs += c.Value.Handoffs
		for _, d := range c.Value.Held {
			s.heldTimes += d
		}
	}
	for _, p := range st.States {
		for state, d := range p.Value {
			s.states[state] += d
		}
	}
	s.events += st.Totals.Value.Events
}

func (s *sums) histogram(h *contention.Histogram, sum *time.Duration) {
	if h == nil {
		return
	}
	*sum += h.Sum
	s.durations += h.Count
	n := h.Scaled.Zero
	for _, c := range append(h.Buckets, h.Scaled.Counts...) {
		n += c
	}
	if n != h.Count {
		panic("the buckets of a histogram do not add up to its count")
	}
}

// run feeds a simulated program in batches to an engine and its windows to an account, and flushes after every few batches. It returns the
// sums of the last flush, or of all flushes with delta, and the sums of the windows themselves.
func run(t *testing.T, seed uint64, cfg *contention.Config, delta bool) (got, want sums) {
	t.Helper()
	sim := threadtest.Simulate(seed, 2+int(seed%12), 4, 1500)
	ecfg := engine.DefaultConfig()
	ecfg.Window = time.Duration(200 + seed%900)
	e := drive.New(ecfg, nil)
	now := time.Unix(1000, 0)
	a := contention.New(cfg, symbols.New(symbols.DefaultLimits()), nil, now)
	yield := func(w *window.Window) {
		for _, err := range threadtest.Validate(w) {
			t.Error(err)
		}
		a.Window(w, e.Timeline())
		want.window(w)
	}
	flush := func(e *engine.Engine) {
		now = now.Add(time.Second)
		if !delta {
			got = sums{}
		}
		a.Flush(e, now, delta, got.add)
	}
	const perBatch = 97
	for n := 1; len(sim.Events) > 0; n++ {
		part := sim.Events[:min(perBatch, len(sim.Events))]
		sim.Events = sim.Events[len(part):]
		e.Batch(part, 0, part[len(part)-1].Time, yield)
		if n%3 == 0 {
			flush(e.Engine)
		}
	}
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	a.Close(e.Timeline(), e.Now())
	want.open(e)
	flush(nil)
	a.Release()
	return got, want
}

// window adds the blocked time of a window, and the intervals that ended in it.
func (s *sums) window(w *window.Window) {
	s.contentions += w.Totals[jvmthread.StateBlocked].Count
	s.blocked += w.Totals[jvmthread.StateBlocked].Time + w.Totals[jvmthread.StateDeadlocked].Time
	s.events += w.Events
	for i := range w.Locks {
		s.handoffs += w.Locks[i].Handoffs
		s.heldTimes += w.Locks[i].Held
	}
	for _, l := range w.Lanes {
		for i := range l.Intervals.Len() {
			if iv := l.Intervals.At(i); !iv.Marks.Has(jvmthread.MarkOpen) {
				s.interval(&iv)
			}
		}
	}
}

func (s *sums) interval(iv *jvmthread.Interval) {
	s.states[iv.State] += iv.Duration()
	switch k := iv.Wait; {
	case k.Contended():
		s.inBlocked += iv.Duration()
		s.durations++
		if iv.State == jvmthread.StateParked {
			s.contentions++
			s.blocked += iv.Duration()
		}
	case k != jvmthread.WaitNone:
		s.inWaits += iv.Duration()
		s.durations++
		s.waits++
	}
}

// open adds the intervals that did not end.
func (s *sums) open(e *drive.Session) {
	for th := range e.Timeline().Threads {
		if !th.Dead() {
			iv := th.Piece(e.Now())
			s.interval(&iv)
		}
	}
}

// The metrics equal the sums of the intervals and of the windows' totals to the nanosecond, for every flush interval, grouping and limit of
// series.
func TestSumsMatchIntervals(t *testing.T) {
	for seed := range uint64(120) {
		cfg := config()
		cfg.ThreadPools, cfg.CallSites = seed%2 == 0, seed%3 == 0
		if seed%4 == 0 {
			cfg.MaxSeries = 1
		}
		if seed%5 == 0 {
			cfg.Budget.Limit = 3
		}
		if seed%7 == 0 {
			cfg.Buckets, cfg.MaxSize = nil, 20
		}
		got, want := run(t, seed, cfg, false)
		require.Equal(t, want, got, "seed %d", seed)
		require.Equal(t, got.blocked, got.inBlocked, "all blocked intervals have ended")
		deltas, _ := run(t, seed, cfg, true)
		require.Equal(t, want, deltas, "seed %d: deltas add up to the cumulative sums", seed)
		assert.Zero(t, cfg.Budget.Used(), "the budget is returned")
	}
}
