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

	"github.com/weft-otel/weft/internal/sessions"
)

// Config says how events become metrics and log records.
type Config struct {
	// Sessions are as those of the thread_span processor, and must be the same for exemplars to point at spans that there are.
	Sessions sessions.Options `mapstructure:",squash"`

	// FlushInterval is how often metrics are sent.
	FlushInterval time.Duration `mapstructure:"metrics_flush_interval"`
	// Temporality is cumulative or delta.
	Temporality Temporality     `mapstructure:"aggregation_temporality"`
	Histogram   HistogramConfig `mapstructure:"histogram"`
	Exemplars   ExemplarConfig  `mapstructure:"exemplars"`

	// CallSites tells waits apart by the method that waits.
	CallSites bool `mapstructure:"call_sites"`
	// ThreadPools tells waits and times apart by the pattern of the thread's name.
	ThreadPools bool `mapstructure:"thread_pools"`
	// StuckAfter is for how long a thread must have been waiting for a lock to count as stuck.
	StuckAfter time.Duration `mapstructure:"stuck_after"`

	// MaxSeries bounds the combinations of lock class, kind, call site and pool in one metric of one session.
	MaxSeries int `mapstructure:"max_series"`
	// MaxSeriesTotal bounds the series and histograms of all sessions.
	MaxSeriesTotal int `mapstructure:"max_series_total"`
	// SeriesExpiration is after how long without anything new a series leaves.
	SeriesExpiration time.Duration `mapstructure:"series_expiration"`

	_ struct{} // keys, please
}

// HistogramConfig says of which kind histograms are: one of the two.
type HistogramConfig struct {
	Explicit    configoptional.Optional[ExplicitConfig]    `mapstructure:"explicit"`
	Exponential configoptional.Optional[ExponentialConfig] `mapstructure:"exponential"`

	_ struct{}
}

// ExplicitConfig is for histograms with bounds.
type ExplicitConfig struct {
	// Buckets are the upper bounds, rising.
	Buckets []time.Duration `mapstructure:"buckets"`

	_ struct{}
}

// ExponentialConfig is for histograms whose bounds find themselves. Prometheus calls them native.
type ExponentialConfig struct {
	// MaxSize is how many buckets one has at most.
	MaxSize int `mapstructure:"max_size"`

	_ struct{}
}

// ExemplarConfig says how many examples a histogram has.
type ExemplarConfig struct {
	Enabled bool `mapstructure:"enabled"`
	// MaxPerDataPoint is for one point; they are of different orders of magnitude.
	MaxPerDataPoint int `mapstructure:"max_per_data_point"`

	_ struct{}
}

// Temporality is what a sum is the sum of.
type Temporality string

// The temporalities.
const (
	Cumulative Temporality = "cumulative" // since the series began
	Delta      Temporality = "delta"      // since the flush before
)

// UnmarshalText refuses what is no temporality.
func (t *Temporality) UnmarshalText(text []byte) error {
	switch v := Temporality(text); v {
	case Cumulative, Delta:
		*t = v
		return nil
	}
	return fmt.Errorf("%q is no temporality, use cumulative or delta", text)
}

var _ component.Config = (*Config)(nil)

// maxBuckets bounds what one histogram takes.
const maxBuckets = 1000

func createDefaultConfig() component.Config {
	return &Config{
		Sessions: sessions.DefaultOptions(), FlushInterval: 15 * time.Second, Temporality: Cumulative,
		Histogram: HistogramConfig{
			Explicit: configoptional.Default(ExplicitConfig{Buckets: []time.Duration{
				10 * time.Microsecond, 100 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond,
				5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond,
				250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second,
				10 * time.Second, 30 * time.Second, time.Minute,
			}}),
			Exponential: configoptional.Default(ExponentialConfig{MaxSize: 160}),
		},
		Exemplars:  ExemplarConfig{Enabled: true, MaxPerDataPoint: 4},
		StuckAfter: 30 * time.Second, MaxSeries: 2000, MaxSeriesTotal: 100_000, SeriesExpiration: 10 * time.Minute,
	}
}

// Validate reports every option that cannot work, with what to write instead.
func (c *Config) Validate() error {
	return errors.Join(
		sessions.Within("metrics_flush_interval", c.FlushInterval, 10*time.Millisecond, time.Hour),
		sessions.Within("stuck_after", c.StuckAfter, time.Millisecond, 24*time.Hour),
		sessions.Within("series_expiration", c.SeriesExpiration, time.Second, math.MaxInt64),
		sessions.AtLeast("max_series", c.MaxSeries, 1, ""),
		sessions.AtLeast("max_series_total", c.MaxSeriesTotal, 1, ""),
		sessions.AtLeast("exemplars::max_per_data_point", c.Exemplars.MaxPerDataPoint, 1, "; to have none, say enabled: false"),
	)
}

// Validate reports two kinds at once.
func (c *HistogramConfig) Validate() error {
	if c.Explicit.HasValue() && c.Exponential.HasValue() {
		return errors.New("explicit and exponential are both there; leave one out")
	}
	return nil
}

// Validate reports bounds that do not rise.
func (c *ExplicitConfig) Validate() error {
	if n := len(c.Buckets); n < 1 || n > maxBuckets {
		return fmt.Errorf("buckets: there are %d, use 1 to %d such as [1ms, 10ms, 100ms]", n, maxBuckets)
	}
	for i, b := range c.Buckets {
		if b <= 0 || i > 0 && b <= c.Buckets[i-1] {
			return fmt.Errorf("buckets: %v is not above what stands before it, use rising durations such as [1ms, 10ms, 100ms]", b)
		}
	}
	return nil
}

// Validate reports a size that is too small or too large.
func (c *ExponentialConfig) Validate() error {
	if c.MaxSize < 2 || c.MaxSize > maxBuckets {
		return fmt.Errorf("max_size: %d is out of range, use 2 to %d", c.MaxSize, maxBuckets)
	}
	return nil
}

// buckets are the bounds of explicit histograms, nil for exponential ones, and the size of these.
func (c *HistogramConfig) buckets() (bounds []time.Duration, maxSize int) {
	if c.Exponential.HasValue() {
		return nil, c.Exponential.Get().MaxSize
	}
	return c.Explicit.GetOrInsertDefault().Buckets, 0
}
