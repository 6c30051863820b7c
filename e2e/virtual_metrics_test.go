// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/weft-otel/weft/e2e/spantest"
)

// startMeasured starts a collector that also writes metrics.
func startMeasured(t *testing.T) *collector {
	t.Helper()
	return startCollector(t, setup{
		more: []string{filepath.Join(root, "e2e/testdata/virtual-metrics.yaml")}, engine: []string{"max_spans_per_window: 0"},
	})
}

// flushes returns the metrics of each flush. The collector has ended.
func (c *collector) flushes(t *testing.T) (all []pmetric.MetricSlice) {
	t.Helper()
	file, err := os.Open(filepath.Join(c.out, "metrics.json"))
	require.NoError(t, err)
	defer func() { _ = file.Close() }() // it was only read
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		md, err := new(pmetric.JSONUnmarshaler).UnmarshalMetrics(lines.Bytes())
		require.NoError(t, err)
		for _, rm := range md.ResourceMetrics().All() {
			all = append(all, rm.ScopeMetrics().At(0).Metrics())
		}
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, all)
	return all
}

// distribution is a histogram, summed over its series.
type distribution struct {
	count     int64
	sum       float64 // seconds
	exemplars []pmetric.Exemplar
}

func distributionOf(metrics pmetric.MetricSlice, name string) (d distribution) {
	for _, m := range metrics.All() {
		if m.Name() != name {
			continue
		}
		for _, p := range m.Histogram().DataPoints().All() {
			d.count += int64(p.Count())
			d.sum += p.Sum()
			for _, e := range p.Exemplars().All() {
				d.exemplars = append(d.exemplars, e)
			}
		}
	}
	return d
}

// gaugeOf returns the value of a gauge for an attribute, or without one; -1 if it is missing.
func gaugeOf(metrics pmetric.MetricSlice, name, key, value string) float64 {
	for _, m := range metrics.All() {
		if m.Name() != name {
			continue
		}
		for _, p := range m.Gauge().DataPoints().All() {
			if got, ok := p.Attributes().Get(key); key == "" || ok && got.AsString() == value {
				return p.DoubleValue() + float64(p.IntValue())
			}
		}
	}
	return -1
}

// checkExemplars checks that exemplars are the spans of waits with their durations.
func checkExemplars(o *output, t *testing.T, service string, d distribution) {
	t.Helper()
	assert.NotEmpty(t, d.exemplars)
	known := map[pcommon.SpanID]*span{}
	for _, s := range o.Of(service, func(*span) bool { return true }) {
		known[s.SpanID()] = s
	}
	for _, e := range d.exemplars {
		if s := known[e.SpanID()]; assert.NotNil(t, s, "the span of an exemplar is missing") {
			assert.InDelta(t, float64(s.End()-s.Began())/1e9, e.DoubleValue(), 1e-9, "%s: %s", s.Name(), s.Text("weft.state"))
		}
	}
}

// newestJVM is the newest JDK, which must have virtual threads.
func newestJVM(t *testing.T) jdk {
	t.Helper()
	newest := jdks[len(jdks)-1]
	if newest.major < 21 {
		t.Skip("NOT TESTED: no JDK with virtual threads; install a JDK 21 or newer")
	}
	return newest
}

// TestQueueTimeOfVirtualThreads compares waits for carriers with the measurement of a program in which two virtual threads keep both of them.
func TestQueueTimeOfVirtualThreads(t *testing.T) {
	const waiting = 1000
	j := newestJVM(t)
	c := startMeasured(t)
	var truth starved
	runJava(t, j, c.endpoint+",virtual=exact", "starved", &truth, "-Djdk.virtualThreadScheduler.parallelism=2",
		"-Djdk.virtualThreadScheduler.maxPoolSize=2", "Starved", strconv.Itoa(waiting), "500")
	require.True(t, truth.Starved)
	o := c.finish(t, "starved")
	all := c.flushes(t)

	end := all[len(all)-1]
	queue := distributionOf(end, "weft.virtual.queue.duration")
	t.Logf("%d waits for carriers, %.6f s; the program measured %d, %.6f s", queue.count, queue.sum, truth.Count, float64(truth.Sum)/1e9)
	assert.Equal(t, truth.Count, queue.count)
	assert.InEpsilon(t, float64(truth.Sum)/1e9, queue.sum, 0.02)
	checkExemplars(o, t, "starved", queue)

	starving := 0
	for _, f := range all {
		if gaugeOf(f, "weft.thread.count", "weft.state", "queued") != waiting {
			continue
		}
		starving++
		for state, want := range map[string]int{"running": truth.Carriers, "pinned": 0, "idle": 0} {
			assert.InDelta(t, want, gaugeOf(f, "weft.virtual.carrier.count", "weft.virtual.carrier.state", state), 0, state)
		}
		longest := gaugeOf(f, "weft.virtual.queue.longest", "", "")
		assert.Positive(t, longest)
		assert.LessOrEqual(t, longest, float64(truth.Longest)/1e9)
	}
	t.Logf("%d of %d flushes show all %d waiting", starving, len(all), waiting)
	assert.Positive(t, starving)
	for _, state := range []string{"running", "pinned", "idle"} {
		assert.Zero(t, gaugeOf(end, "weft.virtual.carrier.count", "weft.virtual.carrier.state", state), "the JVM has ended")
	}
	assert.Zero(t, gaugeOf(end, "weft.virtual.queue.longest", "", ""), "the JVM has ended")
	spantest.CheckNothingLost(t, o)
}

// TestPinnedVirtualThreads compares waits on carriers with what a program measured that waits in a class initializer, and elsewhere.
func TestPinnedVirtualThreads(t *testing.T) {
	const waits = 10
	j := newestJVM(t)
	for _, option := range []string{"virtual=exact", "mounts=on"} {
		t.Run(option, func(t *testing.T) {
			c := startMeasured(t)
			var truth struct{ Count, Kept int64 }
			runJava(t, j, c.endpoint+","+option, "pinned", &truth, "Pinned", strconv.Itoa(waits), "200")
			o := c.finish(t, "pinned")
			all := c.flushes(t)
			pinned := distributionOf(all[len(all)-1], "weft.virtual.pinned.duration")
			measured := time.Duration(truth.Kept).Seconds()
			t.Logf("%d pinned waits, %.6f s; the program measured %d, %.6f s", pinned.count, pinned.sum, truth.Count, measured)
			assert.Equal(t, truth.Count, pinned.count)
			assert.LessOrEqual(t, pinned.sum, measured)
			assert.InEpsilon(t, measured, pinned.sum, 0.01)
			checkExemplars(o, t, "pinned", pinned)
			seen := false
			for _, f := range all {
				seen = seen || gaugeOf(f, "weft.virtual.carrier.count", "weft.virtual.carrier.state", "pinned") == 1
			}
			assert.True(t, seen, "a flush shows the pinned carrier")
			spantest.CheckNothingLost(t, o)
		})
	}
}
