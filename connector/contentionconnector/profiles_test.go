// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contentionconnector

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/connectortest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/weft-otel/weft/connector/contentionconnector/internal/metadata"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// totals are the sums of samples by the name that Pyroscope gives to the profile: type of the period, and of the values.
func totals(all []pprofile.Profiles) map[string]int64 {
	sums := make(map[string]int64)
	for _, pd := range all {
		d := pd.Dictionary()
		text := func(i int32) string { return d.StringTable().At(int(i)) }
		for _, p := range pd.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().All() {
			name := text(p.PeriodType().TypeStrindex()) + ":" + text(p.SampleType().TypeStrindex())
			for _, s := range p.Samples().All() {
				sums[name] += s.Values().At(0)
			}
		}
	}
	return sums
}

// metricTotal is the last value of a cumulative metric, over all its series. Seconds become nanoseconds.
func metricTotal(md pmetric.Metrics, name string) (sum int64) {
	for _, m := range md.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
		if m.Name() != name {
			continue
		}
		for _, dp := range m.Sum().DataPoints().All() {
			sum += dp.IntValue() + int64(math.Round(dp.DoubleValue()*1e9))
		}
	}
	return sum
}

// The profiles of a session have the totals of its metrics, in one pipeline or in all.
func TestProfiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := createDefaultConfig().(*Config)
		cfg.Sessions.AckWithin = time.Hour
		cfg.Profiles.Types = append(cfg.Profiles.Types, "off_cpu")
		cfg.Profiles.ServiceOnSamples = true
		tel := componenttest.NewTelemetry()
		set := connectortest.NewNopSettings(metadata.Type)
		set.TelemetrySettings = tel.NewTelemetrySettings()
		points, stacks := new(consumertest.MetricsSink), new(consumertest.ProfilesSink)
		f := NewFactory()
		metrics, err := f.CreateTracesToMetrics(t.Context(), set, cfg, points)
		require.NoError(t, err)
		profiles, err := f.CreateTracesToProfiles(t.Context(), set, cfg, stacks)
		require.NoError(t, err)
		sides := []connector.Traces{profiles, metrics}
		for _, c := range sides {
			require.NoError(t, c.Start(t.Context(), componenttest.NewNopHost()))
		}
		consume := func(end, text string, number uint64, before *uint64) {
			td := carriers(t, one, number, before, end, text)
			for _, c := range sides {
				require.NoError(t, c.ConsumeTraces(t.Context(), td))
			}
		}
		before := uint64(0)
		consume("", story, 1, &before)
		time.Sleep(16 * time.Second) // in the synctest bubble: one flush
		synctest.Wait()
		require.Len(t, stacks.AllProfiles(), 1)
		consume(threadpdata.EndExit, "12000000 main sleepEnd\n12000001 main threadEnd\n", 2, &before)
		all := points.AllMetrics()
		last := all[len(all)-1]
		got := totals(stacks.AllProfiles())
		blocked, contentions := metricTotal(last, "weft.lock.blocked.time"), metricTotal(last, "weft.lock.contentions")
		require.Positive(t, blocked)
		for _, family := range []string{"block", "mutex"} {
			assert.Equal(t, blocked, got[family+":delay"], family)
			assert.Equal(t, contentions, got[family+":contentions"], family)
		}
		assert.Greater(t, got["off_cpu:delay"], blocked)
		resource := stacks.AllProfiles()[0].ResourceProfiles().At(0).Resource()
		name, _ := resource.Attributes().Get("service.name")
		assert.Equal(t, "orders", name.Str())
		for _, c := range sides {
			require.NoError(t, c.Shutdown(context.Background()))
		}
		samples, err := tel.GetMetric("otelcol_connector_contention_samples")
		require.NoError(t, err)
		assert.NotNil(t, samples)
	})
}

func TestProfileConfig(t *testing.T) {
	for want, change := range map[string]func(*ProfileConfig){
		"types: unknown type \"cpu\"": func(c *ProfileConfig) { c.Types = []string{"cpu"} },
		"types: none":                 func(c *ProfileConfig) { c.Types = nil },
		"interval: ":                  func(c *ProfileConfig) { c.Interval = time.Millisecond },
		"max_links: ":                 func(c *ProfileConfig) { c.MaxLinks = -1 },
		"max_samples: ":               func(c *ProfileConfig) { c.MaxSamples = 0 },
	} {
		c := defaultProfiles()
		require.NoError(t, c.Validate())
		change(&c)
		assert.ErrorContains(t, c.Validate(), want)
	}
}
