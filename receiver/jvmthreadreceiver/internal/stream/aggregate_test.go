// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// Aggregates are delivered like events: once, in the order of batches.
func TestAggregatesAreDeliveredOnce(t *testing.T) {
	tel := componenttest.NewTelemetry()
	next := outlettest.NewSink()
	r := start(t, outlettest.New(t, tel, next), nil)
	a := dial(t, r)
	a.greet(hello)
	a.send(sums)
	assert.EqualValues(t, 1, a.acked())
	assert.EqualValues(t, 2, a.acked())
	require.NoError(t, a.conn.Close())

	a = dial(t, r)
	assert.EqualValues(t, 2, a.greet(hello))
	a.send(sums + "aggregate sequence=3 watermark=30 before=1 from=20 to=30 scale=2\nend time=40 reason=1")
	for sequence := range uint64(3) {
		assert.Equal(t, sequence+1, a.acked())
	}
	a.closed()
	assert.Equal(t, "batch 1 watermark 1000010 before 0\n  1000001 yield thread 1\n", next.Next(t))
	assert.Equal(t, `batch 2 watermark 1000020 before 1 from 1000005 to 1000020 scale 2
  contendedEnter com.acme.OrderBook "at com.acme.Desk.sell(Desk.java:7)" sum 30 max 16 zero 1 from 8 [1 2]
  park  "" sum 3 max 3 zero 0 from 6 [1]
`, next.Next(t))
	assert.Equal(t, "batch 3 watermark 1000030 before 1 from 1000020 to 1000030 scale 2\n", next.Next(t))
	assert.Equal(t, "batch 4 watermark 1000040 before 1 end exit\n", next.Next(t))
	assert.Empty(t, next.Got)

	r.stop()
	counter := func(n int64) []metricdata.DataPoint[int64] { return []metricdata.DataPoint[int64]{{Value: n}} }
	metadatatest.AssertEqualReceiverJvmThreadSeries(t, tel, counter(2), metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualReceiverJvmThreadSeriesUnknown(t, tel, counter(1), metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualReceiverJvmThreadBatchesDuplicate(t, tel, counter(2), metricdatatest.IgnoreTimestamp())
}
