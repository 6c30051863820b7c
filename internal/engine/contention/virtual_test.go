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

// carried are steps of three virtual threads on two carriers, with the state of the carriers after each. V waits three times without leaving
// its carrier C: for 40 ns, for 15 ns, and to the end. The others wait for a carrier: V for 4 ns, W for 4 and 31 ns, X for 38 ns and to the
// end.
var carried = []struct {
	events   string
	carriers [contention.NumCarrierStates]int // idle, running, pinned
	queued   int
	longest  time.Duration
}{
	{"0 M threadStart", [3]int{}, 0, 0},
	{`
1 M startCalled target=V virtualPeer
2 M startCalled target=W virtualPeer
3 M startCalled target=X virtualPeer
5 V mount target=C virtual
5 V threadStart virtual
6 W mount target=D virtual
6 W threadStart virtual
20 V park virtual pinned
30 M yield`, [3]int{0, 1, 1}, 1, 27},
	{`
40 W yield virtual
40 W unmount target=D virtual
41 X mount target=D virtual
41 X threadStart virtual
50 M yield`, [3]int{0, 1, 1}, 1, 10},
	{`
60 V unparked virtual pinned
68 X park virtual
69 X unmount target=D virtual
70 M yield`, [3]int{1, 1, 0}, 1, 30},
	{`
71 W mount target=D virtual
80 V contendedEnter lock=L owner=W virtual
95 V contendedEntered lock=L virtual pinned
98 M yield`, [3]int{0, 2, 0}, 0, 0},
	{`
100 M unpark target=X virtualPeer
110 V park virtual
118 W threadEnd virtual
120 M yield`, [3]int{1, 0, 1}, 1, 20},
}

// play feeds the steps to an engine and an account, with a flush after each and at the end. It returns what all flushes say together, or
// what the last one says.
func play(t *testing.T, cfg *contention.Config, delta bool) (queued, neverRan contention.Histogram, pinned map[jvmthread.Wait]contention.Histogram) {
	t.Helper()
	h, err := threadtest.Parse("")
	require.NoError(t, err)
	ecfg := engine.DefaultConfig()
	ecfg.Window = 25
	e := drive.New(ecfg, nil)
	now := time.Unix(1000, 0)
	a := contention.New(cfg, symbols.New(symbols.DefaultLimits()), nil, now)
	yield := func(w *window.Window) {
		for _, err := range threadtest.Validate(w) {
			t.Error(err)
		}
		a.Window(w, e.Timeline())
	}
	plus := func(sum, h *contention.Histogram) {
		if h != nil {
			sum.Count += h.Count
			sum.Sum += h.Sum
		}
	}
	flush := func(e *engine.Engine, check func(st *contention.Statement)) {
		now = now.Add(time.Second)
		if !delta {
			queued, neverRan, pinned = contention.Histogram{}, contention.Histogram{}, nil
		}
		if pinned == nil {
			pinned = make(map[jvmthread.Wait]contention.Histogram)
		}
		a.Flush(e, now, delta, func(st *contention.Statement) {
			for _, w := range st.Waits {
				if w.Key.Kind != jvmthread.WaitCarrier {
					continue
				}
				for cause, h := range w.Value.Durations {
					switch window.Cause(cause) {
					case window.CauseNone:
						plus(&queued, h)
					case window.CauseEnd:
						plus(&neverRan, h)
					default:
						assert.Nil(t, h, "no other cause than %s", window.Cause(cause))
					}
				}
			}
			for _, w := range st.Pinned {
				sum := pinned[w.Key.Kind]
				plus(&sum, w.Value.Waited)
				pinned[w.Key.Kind] = sum
			}
			check(st)
		})
	}
	for i, step := range carried {
		first := len(h.Events)
		require.NoError(t, h.Append(step.events))
		e.Batch(h.Events[first:], 0, h.Events[len(h.Events)-1].Time, yield)
		flush(e.Engine, func(st *contention.Statement) {
			assert.Equal(t, step.carriers, st.Threads.Carriers, "step %d", i)
			assert.Equal(t, step.queued, st.Threads.Threads[jvmthread.StateQueued], "step %d", i)
			assert.Equal(t, step.longest, st.Threads.Queued, "step %d", i)
			assert.Equal(t, i > 0, st.HasCarriers, "step %d", i)
		})
	}
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	a.Close(e.Timeline(), e.Now())
	flush(nil, func(st *contention.Statement) {
		assert.Zero(t, st.Threads, "nothing is open after the end")
		assert.True(t, st.HasCarriers)
	})
	a.Release()
	assert.Zero(t, cfg.Budget.Used(), "the budget is returned")
	return queued, neverRan, pinned
}

// Waits for carriers, and waits on carriers, are exact with either temporality and beyond each limit.
func TestCarriers(t *testing.T) {
	for name, change := range map[string]func(*contention.Config){
		"as it is":      func(*contention.Config) {},
		"one series":    func(cfg *contention.Config) { cfg.MaxSeries = 1 },
		"a small pool":  func(cfg *contention.Config) { cfg.Budget.Limit = 3 },
		"no budget":     func(cfg *contention.Config) { cfg.Budget.Limit = 0 },
		"exponential":   func(cfg *contention.Config) { cfg.Buckets, cfg.MaxSize = nil, 20 },
		"without spans": func(cfg *contention.Config) { cfg.Exemplars = 0 },
	} {
		for _, delta := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				cfg := config()
				change(cfg)
				queued, neverRan, pinned := play(t, cfg, delta)
				assert.Equal(t, contention.Histogram{Count: 4, Sum: 4 + 4 + 38 + 31}, queued)
				assert.Equal(t, contention.Histogram{Count: 1, Sum: 20}, neverRan)
				assert.Equal(t, map[jvmthread.Wait]contention.Histogram{
					jvmthread.WaitPark: {Count: 2, Sum: 40 + 10},
					jvmthread.WaitLock: {Count: 1, Sum: 15},
				}, pinned)
			})
		}
	}
}
