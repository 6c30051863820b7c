// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadtest"
)

// V waits without leaving its only carrier, for a lock and in a park, while W waits for that carrier; X never gets it.
const starved = `
0 M threadStart
100 M startCalled target=V virtualPeer
110 V mount target=C virtual
110 V threadStart virtual
200 M startCalled target=W virtualPeer
300 V contendedEnter lock=com.acme.Book owner=M virtual
420 V contendedEntered lock=com.acme.Book virtual pinned
500 V park virtual pinned
530 V unparked virtual pinned
600 V threadEnd virtual
700 W mount target=C virtual
700 W threadStart virtual
750 M startCalled target=X virtualPeer
790 W sleepStart virtual
800 M yield
`

// point describes a data point of a histogram or gauge of virtual threads.
func point(name string, a pcommon.Map, count uint64, value float64) string {
	words := []string{name}
	for _, key := range []string{"weft.lock.class", "weft.wait.kind", "weft.wait.cause", "weft.virtual.carrier.state", "weft.state"} {
		if v, ok := a.Get(key); ok {
			words = append(words, v.AsString())
		}
	}
	if count > 0 {
		words = append(words, fmt.Sprintf("%d:", count))
	}
	return fmt.Sprintf("%s %.0f", strings.Join(words, " "), value)
}

// virtualPoints returns the data points of virtual threads and of waits, durations in nanoseconds, and checks that exemplars have spans.
func virtualPoints(t *testing.T, metrics pmetric.MetricSlice, out both) (points []string, exemplars int) {
	t.Helper()
	for _, m := range metrics.All() {
		switch m.Name() {
		case "weft.virtual.queue.duration", "weft.virtual.pinned.duration", "weft.wait.duration", "weft.lock.blocked.duration":
			require.Equal(t, pmetric.MetricTypeHistogram, m.Type())
			for _, p := range m.Histogram().DataPoints().All() {
				points = append(points, point(m.Name(), p.Attributes(), p.Count(), p.Sum()*1e9))
				for _, x := range p.Exemplars().All() {
					s, ok := out.spans[spanKey{x.TraceID(), x.SpanID()}]
					require.True(t, ok, "the exemplar's span is missing")
					length, ok := s.Attributes().Get("weft.interval.time")
					require.True(t, ok)
					assert.EqualValues(t, length.Int(), math.Round(x.DoubleValue()*1e9))
					exemplars++
				}
			}
		case "weft.virtual.queue.longest", "weft.virtual.carrier.count":
			for _, p := range m.Gauge().DataPoints().All() {
				points = append(points, point(m.Name(), p.Attributes(), 0, p.DoubleValue()*1e9+float64(p.IntValue())))
			}
		}
	}
	slices.Sort(points)
	return points, exemplars
}

// Each wait is in one histogram; those during which a virtual thread kept its carrier are in one more.
func TestMetricsOfVirtualThreads(t *testing.T) {
	t.Parallel()
	h, err := threadtest.Parse(starved)
	require.NoError(t, err)
	for _, delta := range []bool{false, true} {
		out := produce(t, h.Events, h.Symbols(), time.Second, 0, false, threadpdata.MetricWriter{Bounds: bounds, Delta: delta})
		require.Len(t, out.flushes, 1)
		points, exemplars := virtualPoints(t, out.flushes[0], out)
		assert.Equal(t, 6, exemplars, "of each wait that ended, and one more of those that kept the carrier")
		assert.Equal(t, []string{
			"weft.lock.blocked.duration com.acme.Book lock handoff 1: 120",
			"weft.virtual.carrier.count idle 0",
			"weft.virtual.carrier.count pinned 1",
			"weft.virtual.carrier.count running 0",
			"weft.virtual.pinned.duration com.acme.Book lock 1: 120",
			"weft.virtual.pinned.duration park 1: 30",
			"weft.virtual.pinned.duration sleep 1: 10",
			"weft.virtual.queue.duration end 1: 50",
			"weft.virtual.queue.duration none 2: 510",
			"weft.virtual.queue.longest 50",
			"weft.wait.duration park unknown 1: 30",
			"weft.wait.duration sleep end 1: 10",
		}, points)
	}
}

// A program without virtual threads has none of their metrics.
func TestNoVirtualThreads(t *testing.T) {
	t.Parallel()
	out := simulate(t, 1, 0, threadpdata.MetricWriter{Bounds: bounds})
	require.NotEmpty(t, out.flushes)
	for _, f := range out.flushes {
		for _, m := range f.All() {
			assert.NotContains(t, m.Name(), "virtual")
		}
	}
}
