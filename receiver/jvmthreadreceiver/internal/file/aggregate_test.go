// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/metadatatest"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

const sums = `class id=1 name="com.acme.OrderBook"
class id=2 name="com.acme.Desk"
method id=1 class=2 name="sell" file="Desk.java" lines=0:7
stack id=1 frames=1:0
batch sequence=1 watermark=10
 section thread=1
  event yield time=1
aggregate sequence=2 watermark=20 before=1 from=5 to=20 scale=2
 series contendedEnter class=1 stack=1 sum=30 max=16 zero=1 offset=8 buckets=1,2
 series notify sum=1
 series park sum=3 max=3 offset=6 buckets=1 overflow
`

// Recorded aggregates are delivered as an agent would send them, and only once despite a restart.
func TestRecordedAggregates(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.weft")
	whole := native(t, outlettest.Hello+sums+"aggregate sequence=3 watermark=30 before=1 from=20 to=30 scale=2\nend time=40 reason=1")
	begun := native(t, outlettest.Hello+sums)
	store := &memory{data: make(map[string][]byte)}
	id := component.MustNewID("memory")
	change := func(f *Config) {
		f.Include, f.Follow, f.Storage = []string{file}, true, &id
	}
	next := outlettest.NewSink()
	tel := componenttest.NewTelemetry()
	require.NoError(t, os.WriteFile(file, begun, 0o600))
	r, _ := filesOf(t, tel, next, withExtension{id: id, extension: store}, change)
	assert.Equal(t, "batch 1 watermark 1000010 before 0\n  1000001 yield thread 1\n", next.Next(t))
	assert.Equal(t, `batch 2 watermark 1000020 before 1 from 1000005 to 1000020 scale 2
  contendedEnter com.acme.OrderBook "at com.acme.Desk.sell(Desk.java:7)" sum 30 max 16 zero 1 from 8 [1 2]
  park  "" sum 3 max 3 zero 0 from 6 [1]
`, next.Next(t))
	r.stop()
	metadatatest.AssertEqualReceiverJvmThreadSeries(t, tel, []metricdata.DataPoint[int64]{{Value: 2}}, metricdatatest.IgnoreTimestamp())

	require.NoError(t, os.WriteFile(file, whole, 0o600))
	r, _ = filesOf(t, componenttest.NewTelemetry(), next, withExtension{id: id, extension: store}, change)
	assert.Equal(t, "batch 3 watermark 1000030 before 1 from 1000020 to 1000030 scale 2\n", next.Next(t))
	assert.Equal(t, "batch 4 watermark 1000040 before 1 end exit\n", next.Next(t))
	r.stop()

	r, log := filesOf(t, componenttest.NewTelemetry(), next, withExtension{id: id, extension: store}, change)
	logged(t, log, "Recorded session ended")
	r.stop()
	assert.Empty(t, next.Got, "the end is not repeated")
}
