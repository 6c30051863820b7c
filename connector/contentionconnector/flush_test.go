// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contentionconnector

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// Rejected points are counted; cumulative sums are sent again.
func TestRejectedFlushIsCounted(t *testing.T) {
	p := start(t, nil, consumertest.NewErr(errors.New("queue is full")))
	before := uint64(0)
	p.consume(t, carriers(t, one, 1, &before, threadpdata.EndExit, story))
	assert.Equal(t, int64(1), p.own(t, "refused"))
	p.stop(t)
}

// slow is a sink that delays its responses.
type slow struct {
	consumertest.MetricsSink

	pause time.Duration
}

func (s *slow) ConsumeMetrics(ctx context.Context, md pmetric.Metrics) error {
	time.Sleep(s.pause)
	return s.MetricsSink.ConsumeMetrics(ctx, md)
}

// Even with a slow consumer, no point ends before it starts, not even for a session that started during the delay.
func TestPointsEndAfterTheyStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &slow{pause: 20 * time.Second}
		p := start(t, nil, sink)
		before := uint64(0)
		p.consume(t, carriers(t, one, 1, &before, "", story))
		time.Sleep(32 * time.Second) // the first flush is in progress when the second is due
		before = 0
		p.consume(t, carriers(t, jvmthread.SessionID{2}, 1, &before, "", story))
		time.Sleep(time.Minute)
		synctest.Wait()
		points := 0
		for _, md := range sink.AllMetrics() {
			for _, m := range md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
				if m.Type() != pmetric.MetricTypeSum {
					continue
				}
				for _, dp := range m.Sum().DataPoints().All() {
					points++
					assert.LessOrEqual(t, dp.StartTimestamp(), dp.Timestamp(), m.Name())
				}
			}
		}
		assert.Positive(t, points)
		p.stop(t)
	})
}

// Idle series expire, with a final point that marks them as stale.
func TestStaleSeriesAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, func(c *Config) {
			c.SeriesExpiration, c.Sessions.SessionTimeout = time.Minute, time.Hour
		}, nil)
		before := uint64(0)
		p.consume(t, carriers(t, one, 1, &before, "", story))
		time.Sleep(3 * time.Minute) // in the synctest bubble
		synctest.Wait()
		points, stale := 0, 0
		for _, md := range p.points.AllMetrics() {
			for _, m := range md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
				if m.Name() != "weft.lock.handoffs" {
					continue
				}
				for _, dp := range m.Sum().DataPoints().All() {
					if points++; dp.Flags().NoRecordedValue() {
						stale++
						assert.Equal(t, 1, m.Sum().DataPoints().Len(), "the prometheus exporter ignores points after a stale one")
					}
				}
			}
		}
		assert.Equal(t, 3*5, points, "locks of three classes, for a minute and one final point")
		assert.Equal(t, 3, stale)
		p.stop(t)
	})
}
