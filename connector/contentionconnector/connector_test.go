// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contentionconnector

import (
	"context"
	"flag"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/golden"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/pdatatest/plogtest"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/pdatatest/pmetrictest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/connectortest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/weft-otel/weft/connector/contentionconnector/internal/metadata"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// rig connects a test to a connector and two sinks.
type rig struct {
	metrics, logs connector.Traces
	points        *consumertest.MetricsSink
	records       *consumertest.LogsSink
	tel           *componenttest.Telemetry
}

func start(t *testing.T, change func(*Config), refuse consumer.Metrics) *rig {
	t.Helper()
	p := &rig{points: new(consumertest.MetricsSink), records: new(consumertest.LogsSink), tel: componenttest.NewTelemetry()}
	cfg := createDefaultConfig().(*Config)
	cfg.Sessions.AckWithin = time.Hour // carriers have been processed when ConsumeTraces returns
	if change != nil {
		change(cfg)
	}
	set := connectortest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = p.tel.NewTelemetrySettings()
	f := NewFactory()
	var next consumer.Metrics = p.points
	if refuse != nil {
		next = refuse
	}
	var err error
	p.metrics, err = f.CreateTracesToMetrics(t.Context(), set, cfg, next)
	require.NoError(t, err)
	p.logs, err = f.CreateTracesToLogs(t.Context(), set, cfg, p.records)
	require.NoError(t, err)
	for _, c := range []connector.Traces{p.metrics, p.logs} {
		require.NoError(t, c.Start(t.Context(), componenttest.NewNopHost()))
	}
	return p
}

func (p *rig) stop(t *testing.T) {
	t.Helper()
	for _, c := range []connector.Traces{p.logs, p.metrics} {
		require.NoError(t, c.Shutdown(context.Background()))
	}
}

// consume passes the same data to both pipelines, as the collector does.
func (p *rig) consume(t *testing.T, td ptrace.Traces) {
	t.Helper()
	for _, c := range []connector.Traces{p.metrics, p.logs} {
		require.NoError(t, c.ConsumeTraces(t.Context(), td))
	}
}

// own returns the value of one of the connector's own metrics.
func (p *rig) own(t *testing.T, name string) (sum int64) {
	t.Helper()
	got, err := p.tel.GetMetric("otelcol_connector_contention_" + name)
	if err != nil {
		return 0
	}
	switch d := got.Data.(type) {
	case metricdata.Sum[int64]:
		for _, dp := range d.DataPoints {
			sum += dp.Value
		}
	case metricdata.Gauge[int64]:
		for _, dp := range d.DataPoints {
			sum += dp.Value
		}
	}
	return sum
}

var one = jvmthread.SessionID{1, 2, 3}

// epoch is the start of the tests' sessions: a multiple of the window.
const epoch = jvmthread.Time(1_700_000_000_000_000_000)

// story is a history in microseconds: a convoy, a wait with its notify, a lost notify, a deadlock, two locks in both orders, and a request.
const story = `
1000 main threadStart
1100 http-exec-1 threadStart
1200 http-exec-2 threadStart
1300 http-exec-3 threadStart
2000 http-exec-1 contendedEnter lock=book owner=main stack=1
3000 http-exec-2 contendedEnter lock=book owner=main stack=1
4000 http-exec-3 contendedEnter lock=book owner=main stack=2
5000 http-exec-1 contendedEntered lock=book
9000 http-exec-2 contendedEntered lock=book
20000 http-exec-3 contendedEntered lock=book
21000 main notify lock=queue
30000 http-exec-3 wait lock=queue arg=50000000 stack=3
80000 http-exec-3 waited lock=queue timedOut
80100 http-exec-3 waitReturned lock=queue
90000 http-exec-3 wait lock=queue stack=3
95000 main notify lock=queue
96000 http-exec-3 waited lock=queue
96100 http-exec-3 waitReturned lock=queue
100000 http-exec-1 contendedEnter lock=account-a owner=http-exec-2 stack=1
200000 http-exec-2 contendedEnter lock=account-b owner=http-exec-1 stack=2
210000 main contendedEnter lock=book owner=http-exec-3 stack=1
211000 http-exec-3 contendedEnter lock=queue stack=2
212000 http-exec-3 contendedEntered lock=queue
213000 main contendedEntered lock=book
220000 http-exec-3 contendedEnter lock=queue owner=main stack=2
221000 main contendedEnter lock=book stack=1
222000 main contendedEntered lock=book
223000 http-exec-3 contendedEntered lock=queue
300000 http-exec-3 park lock=sync owner=main stack=2
310000 http-exec-3 unparked lock=sync
320000 http-exec-3 context span=order
330000 http-exec-3 sleepStart
380000 http-exec-3 sleepEnd
400000 http-exec-3 requestEnd span=order lock=request arg=80000000
400000 http-exec-3 context span=-
11000000 main sleepStart
`

// carriers returns the carriers of a batch with a history's events.
func carriers(t testing.TB, id jvmthread.SessionID, number uint64, before *uint64, end, text string) ptrace.Traces {
	t.Helper()
	h, err := threadtest.Parse(text)
	require.NoError(t, err)
	return fromEvents(id, number, before, end, h.Events)
}

func fromEvents(id jvmthread.SessionID, number uint64, before *uint64, end string, events []jvmthread.Event) ptrace.Traces {
	sym := symbols.New(symbols.DefaultLimits())
	for _, class := range []string{"com.acme.OrderBook", "com.acme.OrderQueue", "com.acme.Account", "none of these", "java.util.concurrent.locks.ReentrantLock$NonfairSync", "POST /orders"} {
		sym.InternClass(class)
	}
	for _, stack := range []string{
		"at com.acme.OrderBook.add(OrderBook.java:42)", "at com.acme.OrderBook.depth(OrderBook.java:50)",
		"at java.lang.Object.wait(Object.java:366)\nat com.acme.OrderQueue.take(OrderQueue.java:20)",
	} {
		sym.InternStack(stack)
	}
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "orders")
	ss := rs.ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(ss.Scope())
	byThread := make(map[jvmthread.ThreadID][]jvmthread.Event)
	order := []jvmthread.ThreadID{}
	last := jvmthread.Time(0)
	for _, ev := range events {
		ev.Time = epoch + ev.Time*1000
		last = max(last, ev.Time)
		if ev.Lock.Class == 4 { // histories have a class for each lock, but both accounts share one
			ev.Lock.Class = 3
		}
		if byThread[ev.Thread] == nil {
			order = append(order, ev.Thread)
		}
		byThread[ev.Thread] = append(byThread[ev.Thread], ev)
	}
	names := []string{"", "main", "http-exec-1", "http-exec-2", "http-exec-3"}
	c := threadpdata.Carrier{Session: id, Batch: number, Watermark: last, Before: *before, End: end}
	for _, th := range order {
		described := jvmthread.Thread{ID: th}
		if int(th) < len(names) {
			described.Name = names[th]
		}
		c.Threads, c.Events = append(c.Threads, described), append(c.Events, byThread[th]...)
	}
	c.AppendTo(ss.Spans(), sym)
	*before += uint64(len(events))
	return td
}

func compareMetrics(t *testing.T, name string, got pmetric.Metrics) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, golden.WriteMetrics(t, path, got, golden.SkipMetricTimestampNormalization()))
	}
	want, err := golden.ReadMetrics(path)
	require.NoError(t, err)
	assert.NoError(t, pmetrictest.CompareMetrics(want, got, pmetrictest.IgnoreMetricDataPointsOrder(), pmetrictest.IgnoreMetricsOrder()))
}

// The metrics of the same history in all configurations: at the first flush after the first window, and at the end.
func TestGolden(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"explicit":    nil,
		"exponential": func(c *Config) { c.Histogram.Exponential = configoptional.Some(ExponentialConfig{MaxSize: 20}) },
		"delta":       func(c *Config) { c.Temporality = Delta },
		"dimensions":  func(c *Config) { c.CallSites, c.ThreadPools = true, true },
		"overflow":    func(c *Config) { c.MaxSeries = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := start(t, change, nil)
				before := uint64(0)
				p.consume(t, carriers(t, one, 1, &before, "", story))
				time.Sleep(16 * time.Second) // in the synctest bubble: one flush
				synctest.Wait()
				p.consume(t, carriers(t, one, 2, &before, threadpdata.EndExit, "12000000 main sleepEnd\n12000001 main threadEnd\n"))
				all := p.points.AllMetrics()
				require.Len(t, all, 2)
				compareMetrics(t, name+"-live.yaml", all[0])
				compareMetrics(t, name+"-end.yaml", all[1])
				p.stop(t)
				assert.Zero(t, p.own(t, "series"), "all series are released")
				assert.Zero(t, p.own(t, "held"))
				assert.Zero(t, p.own(t, "sessions"))
			})
		})
	}
}

// Each of these is reported once: a deadlock, its end with the session, the lock order inversion, and the lost notify.
// Without what-if, its metrics are absent.
func TestWithoutWhatIf(t *testing.T) {
	for _, on := range []bool{true, false} {
		p := start(t, func(c *Config) { c.Sessions.CriticalPath.WhatIf = on }, nil)
		p.consume(t, carriers(t, one, 1, new(uint64), threadpdata.EndExit, story))
		p.stop(t)
		var names []string
		for _, md := range p.points.AllMetrics() {
			for _, m := range md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
				names = append(names, m.Name())
			}
		}
		assert.Contains(t, names, "weft.critical_path.time")
		for _, name := range []string{"weft.what_if.saved", "weft.what_if.bound"} {
			assert.Equal(t, on, slices.Contains(names, name), name)
		}
	}
}

func TestLogRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, nil, nil)
		before := uint64(0)
		p.consume(t, carriers(t, one, 1, &before, "", story))
		p.consume(t, carriers(t, one, 2, &before, "", "12000000 main sleepEnd\n"))
		p.consume(t, carriers(t, one, 3, &before, threadpdata.EndExit, "13000000 main threadEnd\n"))
		p.stop(t)
		require.NotEmpty(t, p.records.AllLogs())
		all := p.records.AllLogs()[0]
		for _, more := range p.records.AllLogs()[1:] {
			more.ResourceLogs().MoveAndAppendTo(all.ResourceLogs())
		}
		path := filepath.Join("testdata", "logs.yaml")
		if *update {
			require.NoError(t, golden.WriteLogs(t, path, all))
		}
		want, err := golden.ReadLogs(path)
		require.NoError(t, err)
		require.NoError(t, plogtest.CompareLogs(want, all, plogtest.IgnoreLogRecordsOrder()))
		var names []string
		for _, rl := range all.ResourceLogs().All() {
			for _, r := range rl.ScopeLogs().At(0).LogRecords().All() {
				names = append(names, r.EventName())
			}
		}
		assert.Equal(t, []string{"weft.lost_notify", "weft.lock_order", "weft.deadlock", "weft.deadlock.end"}, sorted(names))
	})
}

// sorted returns the names in a fixed order, since the order of reports varies.
func sorted(names []string) (out []string) {
	for _, want := range []string{"weft.lost_notify", "weft.lock_order", "weft.deadlock", "weft.deadlock.end"} {
		for _, n := range names {
			if n == want {
				out = append(out, n)
			}
		}
	}
	return out
}

// A deadlock ends when one of its threads continues; a restart of the collector does not end it.
func TestDeadlockEnds(t *testing.T) {
	for _, tt := range []struct {
		name, then, end string
		want            []string
	}{
		{"its thread is interrupted", "3000000 http-exec-1 contendedEntered lock=x\n", "", []string{"went_on"}},
		{"the JVM is lost", "3000000 main yield\n", threadpdata.EndLost, []string{"lost"}},
		{"the collector stops", "3000000 main yield\n", "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := start(t, nil, nil)
			before := uint64(0)
			p.consume(t, carriers(t, one, 1, &before, "", `
1000 main threadStart
1100 http-exec-1 threadStart
1200 http-exec-2 threadStart
2000 http-exec-1 contendedEnter lock=a owner=http-exec-2
3000 http-exec-2 contendedEnter lock=b owner=http-exec-1
2000000 main yield
`))
			require.Equal(t, 1, p.records.LogRecordCount(), "reported before the window ends")
			h, err := threadtest.Parse("0 main threadStart\n0 http-exec-1 threadStart\n0 http-exec-2 threadStart\n0 main yield lock=a\n0 main yield lock=b\n" + tt.then)
			require.NoError(t, err)
			p.consume(t, fromEvents(one, 2, &before, tt.end, h.Events[5:]))
			p.stop(t)
			var got []string
			for _, ld := range p.records.AllLogs() {
				for _, r := range ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
					if r.EventName() == "weft.deadlock.end" {
						by, _ := r.Attributes().Get("weft.deadlock.ended_by")
						got = append(got, by.Str())
					}
				}
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// Events are counted once, although both pipelines receive them.
func TestBothPipelinesShareAnAccountant(t *testing.T) {
	p := start(t, nil, nil)
	before := uint64(0)
	p.consume(t, carriers(t, one, 1, &before, threadpdata.EndExit, story))
	assert.Equal(t, int64(before), p.own(t, "events"))
	p.stop(t)
	p.stop(t) // idempotent
}

func TestUnusedSessionsOptions(t *testing.T) {
	p := start(t, func(c *Config) {
		c.Sessions.CriticalPath.Mode, c.Exemplars.Enabled = sessions.PathOff, false
	}, nil)
	before := uint64(0)
	p.consume(t, carriers(t, one, 1, &before, threadpdata.EndExit, story))
	for _, m := range p.points.AllMetrics()[0].ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
		assert.NotContains(t, m.Name(), "what_if")
		if m.Type() == pmetric.MetricTypeHistogram {
			assert.Zero(t, m.Histogram().DataPoints().At(0).Exemplars().Len())
		}
	}
	p.stop(t)
}
