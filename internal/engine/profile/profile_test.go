// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package profile_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
)

func config() *profile.Config {
	return &profile.Config{
		Waiters: true, Uncontended: true, Holders: true, Idle: true, Links: 2, MaxSamples: 1000, Budget: &contention.Budget{Limit: 1 << 20},
	}
}

// replay feeds a simulated program to an engine, in windows that are shorter than many of its waits.
func replay(t *testing.T, seed uint64, each func(e *drive.Session, w *window.Window), end func(e *drive.Session)) {
	t.Helper()
	sim := threadtest.Simulate(seed, 2+int(seed%12), 4, 1500)
	cfg := engine.DefaultConfig()
	cfg.Window = time.Duration(200 + seed%900)
	e := drive.New(cfg, nil)
	yield := func(w *window.Window) {
		for _, err := range threadtest.Validate(w) {
			t.Error(err)
		}
		each(e, w)
	}
	e.Add(ordering.Batch{Number: 1, Watermark: sim.Events[len(sim.Events)-1].Time, Events: sim.Events})
	e.Advance(yield)
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	end(e)
}

type sums [profile.NumFamilies][jvmthread.NumWaits]profile.Sum

func (s *sums) add(f profile.Family, samples []profile.Sample) {
	for _, m := range samples {
		s[f][m.Wait].Count += m.Count
		s[f][m.Wait].Time += m.Time
	}
}

// All families have the sums of the metrics, to the nanosecond, whatever the limits.
func TestSumsAreThoseOfTheMetrics(t *testing.T) {
	held := uint64(0)
	for seed := range uint64(60) {
		sym := symbols.New(symbols.DefaultLimits())
		cfg := config()
		if seed%3 == 0 {
			cfg.MaxSamples = int(seed % 7)
		}
		if seed%4 == 0 {
			cfg.Budget.Limit = 5
		}
		a := profile.New(cfg, sym, nil)
		begin := time.Unix(1000, 0)
		metrics := contention.New(&contention.Config{Buckets: []time.Duration{10}, MaxSeries: 1000, Budget: &contention.Budget{Limit: 1 << 20}}, sym, nil, begin)
		var got, want sums
		flush := func() { a.Flush(got.add) }
		replay(t, seed, func(e *drive.Session, w *window.Window) {
			a.Window(w, e.Timeline())
			metrics.Window(w, e.Timeline())
			flush()
		}, func(e *drive.Session) {
			a.Close(e.Timeline(), e.Now())
			metrics.Close(e.Timeline(), e.Now())
			flush()
		})
		metrics.Flush(nil, begin.Add(time.Second), false, func(st *contention.Statement) {
			for _, s := range st.Blocked {
				for _, f := range []profile.Family{profile.Block, profile.Mutex, profile.OffCPU} {
					want[f][s.Key.Kind].Count += s.Value.Count
					want[f][s.Key.Kind].Time += s.Value.Time
				}
			}
			for _, s := range st.Waits {
				want[profile.OffCPU][s.Key.Kind].Count += s.Value.Count
				want[profile.OffCPU][s.Key.Kind].Time += s.Value.Time
			}
		})
		require.Equal(t, want, got, "seed %d", seed)
		held += got[profile.Mutex][jvmthread.WaitLock].Count
		assert.Zero(t, cfg.Budget.Used(), "the budget is returned")
	}
	assert.NotZero(t, held)
}

// doing is what an oracle knows of a holder at a time.
type doing struct {
	class jvmthread.ClassID
	stack jvmthread.StackID
	state jvmthread.State
}

// Nanosecond by nanosecond, each thread that waits for a lock adds one to what the holder of the lock does.
func TestHoldersAgainstAnOracle(t *testing.T) {
	for seed := range uint64(40) {
		a := profile.New(config(), symbols.New(symbols.DefaultLimits()), nil)
		until := jvmthread.Time(-1 << 62)
		known, taken := time.Duration(0), 0
		replay(t, seed, func(e *drive.Session, w *window.Window) {
			want := make(map[doing]time.Duration)
			wait := func(iv *jvmthread.Interval, to jvmthread.Time) {
				if !iv.Wait.Contended() {
					return
				}
				for at := max(iv.Start, until); at < to; at++ {
					want[holderAt(w, iv.Lock, at)]++
				}
			}
			for _, l := range w.Lanes {
				for _, iv := range l.Intervals.All() {
					if !iv.Marks.Has(jvmthread.MarkOpen) {
						wait(&iv, iv.End)
					}
				}
			}
			for th := range e.Timeline().Threads {
				if !th.Dead() {
					wait(th.Open(), w.End)
				}
			}
			until = w.End
			got := make(map[doing]time.Duration)
			a.Window(w, e.Timeline())
			a.Flush(func(f profile.Family, samples []profile.Sample) {
				for _, s := range samples {
					if f == profile.Mutex && s.Time > 0 {
						d := doing{s.Class, s.Stack, s.Doing}
						if s.Taken {
							d.stack, taken = jvmthread.NoStack, taken+1
						}
						got[d] += s.Time
						if s.Doing != jvmthread.StateUnknown {
							known += s.Time
						}
					}
				}
			})
			require.Equal(t, want, got, "seed %d, window from %d to %d", seed, w.Start, w.End)
		}, func(*drive.Session) {})
		assert.NotZero(t, known, "seed %d", seed)
	}
}

// holderAt returns what the holder of a lock did at a time.
func holderAt(w *window.Window, id jvmthread.LockID, at jvmthread.Time) doing {
	for i := range w.Holds {
		h := &w.Holds[i]
		if h.Lock != id || h.Start > at || h.End <= at || at < w.Start {
			continue
		}
		d := doing{class: id.Class}
		if iv, ok := w.Doing(h.Thread, at); ok {
			d.stack, d.state = iv.Stack, iv.State
		}
		return d
	}
	return doing{class: id.Class}
}
