// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contentionconnector

import (
	"errors"
	"fmt"
	"math"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"

	"github.com/weft-otel/weft/extension/threadengineextension"
	"github.com/weft-otel/weft/internal/sessions"
)

// Config is the configuration of the connector.
type Config struct {
	// Sessions must name the engine of the thread_span processor, or equal its options, so that exemplars point at spans that exist.
	Sessions threadengineextension.Options `mapstructure:",squash"`

	// FlushInterval is how often metrics are sent.
	FlushInterval time.Duration `mapstructure:"metrics_flush_interval"`
	// Temporality is that of sums and histograms.
	Temporality Temporality     `mapstructure:"aggregation_temporality"`
	Histogram   HistogramConfig `mapstructure:"histogram"`
	Exemplars   ExemplarConfig  `mapstructure:"exemplars"`
	Profiles    ProfileConfig   `mapstructure:"profiles"`

	// CallSites separates waits by the waiting method.
	CallSites bool `mapstructure:"call_sites"`
	// ThreadPools separates waits and times by the pattern of the thread's name.
	ThreadPools bool `mapstructure:"thread_pools"`
	// StuckAfter is how long a thread must have been waiting for a lock to be stuck.
	StuckAfter time.Duration `mapstructure:"stuck_after"`

	// MaxSeries limits the combinations of lock class, kind, call site and pool in one metric of one session.
	MaxSeries int `mapstructure:"max_series"`
	// MaxSeriesTotal limits the series and histograms of all sessions.
	MaxSeriesTotal int `mapstructure:"max_series_total"`
	// SeriesExpiration is how long a series is kept without updates.
	SeriesExpiration time.Duration `mapstructure:"series_expiration"`

	_ struct{} // prevents unkeyed literals
}

// HistogramConfig selects one of the two kinds of histograms.
type HistogramConfig struct {
	Explicit    configoptional.Optional[ExplicitConfig]    `mapstructure:"explicit"`
	Exponential configoptional.Optional[ExponentialConfig] `mapstructure:"exponential"`

	_ struct{}
}

// ExplicitConfig configures histograms with explicit bounds.
type ExplicitConfig struct {
	// Buckets are the upper bounds, in increasing order.
	Buckets []time.Duration `mapstructure:"buckets"`

	_ struct{}
}

// ExponentialConfig configures exponential histograms, called native histograms in Prometheus.
type ExponentialConfig struct {
	// MaxSize is the maximum number of buckets.
	MaxSize int `mapstructure:"max_size"`

	_ struct{}
}

// ExemplarConfig configures the exemplars of histograms.
type ExemplarConfig struct {
	Enabled bool `mapstructure:"enabled"`
	// MaxPerDataPoint limits the exemplars of a data point. They differ in their order of magnitude.
	MaxPerDataPoint int `mapstructure:"max_per_data_point"`

	_ struct{}
}

// Temporality is an aggregation temporality.
type Temporality string

// The temporalities.
const (
	Cumulative Temporality = "cumulative" // since the start of the series
	Delta      Temporality = "delta"      // since the previous flush
)

// UnmarshalText accepts the two temporalities only.
func (t *Temporality) UnmarshalText(text []byte) error {
	switch v := Temporality(text); v {
	case Cumulative, Delta:
		*t = v
		return nil
	}
	return fmt.Errorf("invalid temporality %q (want cumulative or delta)", text)
}

// maxBuckets limits the memory of a histogram.
const maxBuckets = 1000

func createDefaultConfig() component.Config {
	return &Config{
		Sessions: threadengineextension.DefaultOptions(), FlushInterval: 15 * time.Second, Temporality: Cumulative,
		Histogram: HistogramConfig{
			Explicit: configoptional.Default(ExplicitConfig{Buckets: []time.Duration{
				10 * time.Microsecond, 100 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond,
				5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond,
				250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second,
				10 * time.Second, 30 * time.Second, time.Minute,
			}}),
			Exponential: configoptional.Default(ExponentialConfig{MaxSize: 160}),
		},
		Exemplars: ExemplarConfig{Enabled: true, MaxPerDataPoint: 4}, Profiles: defaultProfiles(),
		StuckAfter: 30 * time.Second, MaxSeries: 2000, MaxSeriesTotal: 100_000, SeriesExpiration: 10 * time.Minute,
	}
}

// Validate reports all invalid options.
func (c *Config) Validate() error {
	return errors.Join(
		sessions.Within("metrics_flush_interval", c.FlushInterval, 10*time.Millisecond, time.Hour),
		sessions.Within("stuck_after", c.StuckAfter, time.Millisecond, 24*time.Hour),
		sessions.Within("series_expiration", c.SeriesExpiration, time.Second, math.MaxInt64),
		sessions.AtLeast("max_series", c.MaxSeries, 1, ""),
		sessions.AtLeast("max_series_total", c.MaxSeriesTotal, 1, ""),
		sessions.AtLeast("exemplars::max_per_data_point", c.Exemplars.MaxPerDataPoint, 1, "; to disable exemplars, set exemplars::enabled to false"),
	)
}

// Validate reports two kinds of histograms.
func (c *HistogramConfig) Validate() error {
	if c.Explicit.HasValue() && c.Exponential.HasValue() {
		return errors.New("explicit and exponential are mutually exclusive; remove one")
	}
	return nil
}

// Validate reports bounds that do not increase.
func (c *ExplicitConfig) Validate() error {
	if n := len(c.Buckets); n < 1 || n > maxBuckets {
		return fmt.Errorf("buckets: invalid number %d (want 1 to %d bounds, for example [1ms, 10ms, 100ms])", n, maxBuckets)
	}
	for i, b := range c.Buckets {
		if b <= 0 || i > 0 && b <= c.Buckets[i-1] {
			return fmt.Errorf("buckets: %v does not exceed the bound before it (want increasing durations, for example [1ms, 10ms, 100ms])", b)
		}
	}
	return nil
}

// Validate reports a size that is out of range.
func (c *ExponentialConfig) Validate() error {
	if c.MaxSize < 2 || c.MaxSize > maxBuckets {
		return fmt.Errorf("max_size: %d is out of range (want 2 to %d)", c.MaxSize, maxBuckets)
	}
	return nil
}

// buckets returns the bounds of explicit histograms, or nil and the size of exponential ones.
func (c *HistogramConfig) buckets() (bounds []time.Duration, maxSize int) {
	if c.Exponential.HasValue() {
		return nil, c.Exponential.Get().MaxSize
	}
	return c.Explicit.GetOrInsertDefault().Buckets, 0
}
