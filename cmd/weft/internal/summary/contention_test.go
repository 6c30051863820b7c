// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/ordering"
	windows "github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadtest"
)

// The summary reads span attributes and the metrics add up intervals: both have the same contention to the nanosecond. Only waits may be
// longer in metrics, since the trace of a window omits a thread that waits throughout the window. See docs/adr/015.
func TestSummaryMatchesMetrics(t *testing.T) {
	contentions, windows, contended := int64(0), 0, make(map[string]int64)
	for seed := range uint64(40) {
		events := threadtest.Simulate(seed, 2+int(seed%12), 4, 3000).Events
		for i := range events {
			events[i].Time *= 10_000_000 // spread over many windows
		}
		sym := symbols.New(symbols.DefaultLimits())
		for _, class := range []string{"A", "B", "C"} { // classes of simulated locks have the ids 1 to 3
			sym.InternClass(class)
		}
		want, kinds := metrics(events, sym)
		got, n, waits := spans(t, events, sym)
		for _, w := range waits {
			of := kinds[w.Kind]
			require.Equal(t, of.Contended, w.Contended)
			require.Equal(t, of.Count, w.Count, "seed %d, %s", seed, w.Kind)
			require.LessOrEqual(t, w.Time, of.Time, "seed %d, %s", seed, w.Kind)
			if w.Contended {
				require.Equal(t, of.Time, w.Time, "seed %d, %s", seed, w.Kind)
				contended[w.Kind] += w.Count
			}
		}
		for _, l := range got {
			contentions += l.Contentions
		}
		windows += n
		for class, l := range got {
			require.LessOrEqual(t, l.Waited, want[class].Waited, "seed %d", seed)
			l.Waited = want[class].Waited
			got[class] = l
		}
		require.Equal(t, want, got, "seed %d", seed)
	}
	require.Greater(t, contentions, int64(1000))
	require.Greater(t, windows, 400)
	require.Positive(t, contended["lock"])
}

// spans returns the locks of a summary, its number of windows and its waits by kind.
func spans(t *testing.T, events []jvmthread.Event, sym *symbols.Table) (locks map[string]Lock, windows int, waits []Waits) {
	t.Helper()
	c := newCollection()
	p := replay.NewPlayer(sym, "test", &player{collection: c})
	require.NoError(t, p.Session(&recording.Session{ID: jvmthread.SessionID{1}}))
	require.NoError(t, p.Batch(&recording.Batch{Events: events, Watermark: events[len(events)-1].Time}))
	require.NoError(t, p.End(recording.End{}))
	s := c.summary()
	locks = make(map[string]Lock)
	for i := range s.Locks {
		l := &s.Locks[i]
		locks[l.Class] = Lock{Contentions: l.Contentions, Handoffs: l.Handoffs, Blocked: l.Blocked, Held: l.Held, Waits: l.Waits, Waited: l.Waited}
	}
	return locks, s.Windows, s.Waits
}

// metrics returns the same sums from the accountant that feeds the connector's metrics.
func metrics(events []jvmthread.Event, sym *symbols.Table) (locks map[string]Lock, waits map[string]Waits) {
	cfg := &contention.Config{MaxSize: 160, MaxSeries: 1000, Expiry: time.Hour, Budget: &contention.Budget{Limit: 1 << 20}}
	account, e := contention.New(cfg, sym, nil, time.Unix(0, 0)), drive.New(engine.DefaultConfig(), nil)
	window := func(w *windows.Window) { account.Window(w, e.Timeline()) }
	e.Add(ordering.Part{Batch: 1, Parts: 1, Watermark: events[len(events)-1].Time, Events: events})
	e.Advance(window)
	e.Close(jvmthread.NoTime, windows.CutEnd, window)
	account.Close(e.Timeline(), e.Now())
	locks, waits = make(map[string]Lock), make(map[string]Waits)
	account.Flush(nil, time.Unix(1, 0), false, func(s *contention.Statement) {
		for _, series := range s.Classes {
			l := Lock{Handoffs: int64(series.Value.Handoffs)}
			for _, held := range series.Value.Held {
				l.Held += held
			}
			locks[sym.Class(series.Key)] = l
		}
		for _, series := range slices.Concat(s.Blocked, s.Waits) {
			kind := series.Key.Kind
			w := waits[kind.String()]
			w.Count, w.Time, w.Contended = w.Count+int64(series.Value.Count), w.Time+series.Value.Time, kind.Contended()
			waits[kind.String()] = w
			class := sym.Class(series.Key.Class)
			l := locks[class]
			switch series.Key.Kind {
			case jvmthread.WaitLock:
				l.Contentions, l.Blocked = l.Contentions+int64(series.Value.Count), l.Blocked+series.Value.Time
			case jvmthread.WaitObject:
				l.Waits, l.Waited = l.Waits+int64(series.Value.Count), l.Waited+series.Value.Time
			default:
				continue
			}
			locks[class] = l
		}
	})
	return locks, waits
}
