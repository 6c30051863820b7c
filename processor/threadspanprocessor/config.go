// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"errors"
	"time"

	"go.opentelemetry.io/collector/component"
)

// Config says how events become traces.
type Config struct {
	// Window is the length of the slice of a session that becomes one trace.
	Window time.Duration `mapstructure:"window"`
	// MaxSpansPerWindow bounds the spans of one trace; 0 keeps all.
	MaxSpansPerWindow int `mapstructure:"max_spans_per_window"`
}

var _ component.Config = (*Config)(nil)

// Validate reports the first option that cannot work.
func (c *Config) Validate() error {
	if c.Window <= 0 {
		return errors.New("window must be positive")
	}
	if c.MaxSpansPerWindow < 0 {
		return errors.New("max_spans_per_window must not be negative")
	}
	return nil
}

func createDefaultConfig() component.Config {
	return &Config{Window: 10 * time.Second, MaxSpansPerWindow: 2000}
}
