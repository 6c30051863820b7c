// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata_test

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/drive"
	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
)

// spanKey identifies a span.
type spanKey struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

// both holds the spans and the metrics of one simulated program.
type both struct {
	spans   map[spanKey]ptrace.Span
	totals  map[string]int64 // sums of the int attributes of all thread spans
	flushes []pmetric.MetricSlice
}

// simulate produces the output of a simulated program, with a flush at each window.
func simulate(t *testing.T, seed uint64, budget int, writer threadpdata.MetricWriter) both {
	t.Helper()
	sim := threadtest.Simulate(seed, 12, 4, 3000)
	sym := symbols.New(symbols.DefaultLimits())
	for _, class := range []string{"com.acme.OrderBook", "com.acme.Queue", "com.acme.Account"} {
		sym.InternClass(class)
	}
	return produce(t, sim.Events, sym, 1500, budget, true, writer)
}

// produce turns events into spans and metrics; metrics are flushed at each window if requested, and at the end.
func produce(
	t *testing.T, events []jvmthread.Event, sym *symbols.Table, length time.Duration, budget int, each bool, writer threadpdata.MetricWriter,
) both {
	t.Helper()
	cfg := engine.DefaultConfig()
	cfg.Window = length
	e, emitter, finder := drive.New(cfg, nil), threadpdata.NewEmitter(session, sym, nil), window.NewFinder()
	now := time.Unix(2000, 0)
	account := contention.New(&contention.Config{
		Buckets: writer.Bounds, MaxSize: 160, Exemplars: 4, StuckAfter: time.Second, MaxSeries: 1000, Expiry: time.Hour, Budget: &contention.Budget{Limit: 1 << 20},
	}, sym, nil, now)
	out := both{spans: make(map[spanKey]ptrace.Span), totals: make(map[string]int64)}
	flush := func() {
		now = now.Add(time.Second)
		account.Flush(e.Engine, now, writer.Delta, func(st *contention.Statement) {
			dst := pmetric.NewMetricSlice()
			writer.Write(st, emitter, dst)
			out.flushes = append(out.flushes, dst)
		})
	}
	yield := func(w *window.Window) {
		path := threadpdata.Prepare(w, finder, budget)
		account.Window(w, e.Timeline())
		spans := ptrace.NewSpanSlice()
		emitter.Append(w, path, spans)
		for _, s := range spans.All() {
			out.spans[spanKey{s.TraceID(), s.SpanID()}] = s
			if _, ok := s.Attributes().Get("jvm.thread.daemon"); !ok {
				continue
			}
			for key, value := range s.Attributes().All() {
				if value.Type() == pcommon.ValueTypeInt {
					out.totals[key] += value.Int()
				}
			}
		}
		if each {
			flush()
		}
	}
	e.Add(ordering.Batch{Number: 1, Events: events})
	e.Close(jvmthread.NoTime, window.CutEnd, yield)
	account.Close(e.Timeline(), e.Now())
	flush()
	return out
}

var bounds = []time.Duration{10, 100, time.Microsecond, time.Second}

// value returns the sum of a metric's points, which are numbers or histograms. If an attribute is given, only points with it count.
func value(metrics pmetric.MetricSlice, name, key, want string) (sum float64) {
	match := func(a pcommon.Map) bool {
		v, ok := a.Get(key)
		return key == "" || ok && v.AsString() == want
	}
	for _, m := range metrics.All() {
		if m.Name() != name {
			continue
		}
		switch m.Type() {
		case pmetric.MetricTypeSum:
			for _, p := range m.Sum().DataPoints().All() {
				if match(p.Attributes()) {
					sum += p.DoubleValue() + float64(p.IntValue())
				}
			}
		case pmetric.MetricTypeHistogram:
			for _, p := range m.Histogram().DataPoints().All() {
				if match(p.Attributes()) {
					sum += p.Sum()
				}
			}
		case pmetric.MetricTypeExponentialHistogram:
			for _, p := range m.ExponentialHistogram().DataPoints().All() {
				if match(p.Attributes()) {
					sum += p.Sum()
				}
			}
		case pmetric.MetricTypeEmpty, pmetric.MetricTypeGauge, pmetric.MetricTypeSummary:
		}
	}
	return sum
}

// Sums of metrics equal those of thread spans to the nanosecond, in any configuration and for any number of folded spans.
func TestMetricsMatchThreadSpans(t *testing.T) {
	t.Parallel()
	for seed := range uint64(25) {
		for _, writer := range []threadpdata.MetricWriter{{Bounds: bounds}, {}, {Delta: true, Bounds: bounds}, {Delta: true}} {
			out := simulate(t, seed, 0, writer)
			sum := func(name, key, want string) (d int64) {
				flushes := out.flushes
				if !writer.Delta {
					flushes = flushes[len(flushes)-1:]
				}
				for _, f := range flushes {
					d += int64(math.Round(value(f, name, key, want) * 1e9))
				}
				return d
			}
			require.Equal(t, out.totals["weft.contended.time"], sum("weft.lock.blocked.time", "weft.wait.kind", "lock"), "seed %d", seed)
			require.Equal(t, out.totals["weft.contended.time"], sum("weft.lock.blocked.duration", "weft.wait.kind", "lock"), "seed %d", seed)
			require.Equal(t, out.totals["weft.time.blocked"], sum("weft.thread.time", "weft.state", "blocked"), "seed %d", seed)
			require.Equal(t, out.totals["weft.contended.count"], sum("weft.lock.contentions", "weft.wait.kind", "lock")/1e9, "seed %d", seed)
		}
	}
}

// Each exemplar refers to a span within the budget: to that of its interval, with the same duration, or to that of its thread.
func TestExemplarsReferToExistingSpans(t *testing.T) {
	t.Parallel()
	own := 0
	for seed := range uint64(25) {
		for _, budget := range []int{0, 15, 60, 200} {
			out := simulate(t, seed, budget, threadpdata.MetricWriter{Bounds: bounds})
			for _, f := range out.flushes {
				for _, m := range f.All() {
					if m.Type() != pmetric.MetricTypeHistogram {
						continue
					}
					for _, p := range m.Histogram().DataPoints().All() {
						assert.LessOrEqual(t, p.Exemplars().Len(), 4)
						for _, x := range p.Exemplars().All() {
							s, ok := out.spans[spanKey{x.TraceID(), x.SpanID()}]
							require.True(t, ok, "seed %d, budget %d: the exemplar's span is missing in its trace", seed, budget)
							if length, ok := s.Attributes().Get("weft.interval.time"); ok {
								own++
								require.LessOrEqual(t, length.Int(), int64(math.Round(x.DoubleValue()*1e9)))
							}
						}
					}
				}
			}
		}
	}
	assert.Positive(t, own, "exemplars with the span of their interval")
}

// Metrics are well-formed: names and attribute sets are unique, intervals do not overlap, and cumulative sums never decrease.
func TestMetricsAreWellFormed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		for _, writer := range []threadpdata.MetricWriter{{Bounds: bounds}, {}, {Delta: true, Bounds: bounds}, {Delta: true}} {
			v := validator{t: t, delta: writer.Delta, last: make(map[string]state)}
			for _, f := range simulate(t, seed, 0, writer).flushes {
				v.flush(f)
			}
		}
	}
}

// state is a series at the previous flush.
type state struct {
	start, at pcommon.Timestamp
	value     float64
}

type validator struct {
	t     *testing.T
	delta bool
	last  map[string]state
	seen  map[string]bool
}

func (v *validator) flush(metrics pmetric.MetricSlice) {
	v.seen = make(map[string]bool)
	for _, m := range metrics.All() {
		require.False(v.t, v.seen[m.Name()], "%s is duplicated", m.Name())
		v.seen[m.Name()] = true
		switch m.Type() {
		case pmetric.MetricTypeGauge:
			for _, p := range m.Gauge().DataPoints().All() {
				v.once(m.Name(), p.Attributes())
				require.GreaterOrEqual(v.t, p.DoubleValue(), 0.0)
				require.GreaterOrEqual(v.t, p.IntValue(), int64(0))
			}
		case pmetric.MetricTypeSum:
			for _, p := range m.Sum().DataPoints().All() {
				v.series(m.Name(), p.Attributes(), state{p.StartTimestamp(), p.Timestamp(), p.DoubleValue() + float64(p.IntValue())})
			}
		case pmetric.MetricTypeHistogram:
			for _, p := range m.Histogram().DataPoints().All() {
				v.series(m.Name(), p.Attributes(), state{p.StartTimestamp(), p.Timestamp(), p.Sum()})
				v.buckets(p.Count(), 0, p.BucketCounts())
				require.Equal(v.t, p.ExplicitBounds().Len()+1, p.BucketCounts().Len())
				require.LessOrEqual(v.t, p.Min()*float64(p.Count()), p.Sum()*(1+1e-9))
				require.GreaterOrEqual(v.t, p.Max()*float64(p.Count()), p.Sum()*(1-1e-9))
			}
		case pmetric.MetricTypeExponentialHistogram:
			for _, p := range m.ExponentialHistogram().DataPoints().All() {
				v.series(m.Name(), p.Attributes(), state{p.StartTimestamp(), p.Timestamp(), p.Sum()})
				v.buckets(p.Count(), p.ZeroCount(), p.Positive().BucketCounts())
			}
		case pmetric.MetricTypeEmpty, pmetric.MetricTypeSummary:
			v.t.Errorf("%s has no data", m.Name())
		}
	}
}

func (v *validator) buckets(count, zero uint64, buckets pcommon.UInt64Slice) {
	for _, n := range buckets.All() {
		zero += n
	}
	require.Equal(v.t, count, zero)
}

// once records a series of this flush and fails if it is duplicated.
func (v *validator) once(name string, a pcommon.Map) string {
	key := fmt.Sprint(name, a.AsRaw())
	require.False(v.t, v.seen[key], "%s is duplicated", key)
	v.seen[key] = true
	return key
}

func (v *validator) series(name string, a pcommon.Map, now state) {
	key := v.once(name, a)
	require.Less(v.t, now.start, now.at, key)
	before, ok := v.last[key]
	switch {
	case !ok:
	case v.delta:
		require.GreaterOrEqual(v.t, now.start, before.at, "%s: intervals do not overlap", key)
	default:
		require.Equal(v.t, before.start, now.start, key)
		require.GreaterOrEqual(v.t, now.value, before.value, key)
	}
	v.last[key] = now
}

// docs/metrics.md lists exactly the existing metrics, with instrument and unit.
func TestMetricsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(t, err)
	row := regexp.MustCompile("(?m)^\\| `(weft\\.[a-z_.]+)` \\| (counter|gauge|histogram) \\| ([^ ]+) \\|")
	inDocs := make(map[string][2]string)
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		inDocs[m[1]] = [2]string{m[2], m[3]}
	}
	assert.Equal(t, threadpdata.MetricTexts(), inDocs)
}
