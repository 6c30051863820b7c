// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"go.opentelemetry.io/collector/component"
)

// Config says how events become traces.
type Config struct {
	// Window is the length of the slice of a session that becomes one trace, from 10ms to 1h. Windows begin at multiples of it.
	Window time.Duration `mapstructure:"window"`
	// MaxSpansPerWindow bounds the spans of one trace; 0 keeps all.
	MaxSpansPerWindow int `mapstructure:"max_spans_per_window"`
	// MaxIntervalsPerWindow bounds what is held of one session: with more (at 64 bytes each), its window is cut early.
	MaxIntervalsPerWindow int `mapstructure:"max_intervals_per_window"`
	// MaxSessions bounds the JVMs followed at one time; events of more are refused.
	MaxSessions int `mapstructure:"max_sessions"`
	// SessionTimeout ends a session of which nothing was heard for so long.
	SessionTimeout time.Duration `mapstructure:"session_timeout"`
	// ReorderTimeout is how long a missing batch is waited for before it is counted as lost.
	ReorderTimeout time.Duration `mapstructure:"reorder_timeout"`

	// CriticalPath says whose critical path each window shows.
	CriticalPath CriticalPathConfig `mapstructure:"critical_path"`

	_ struct{} // keys, please
}

// CriticalPathConfig says whose critical path each window shows.
type CriticalPathConfig struct {
	// Mode is bounded (what the thread that was blocked for longest had to wait for), unbounded (the path of the program, backwards from the thread
	// that ran last) or off.
	Mode PathMode `mapstructure:"mode"`
	// Thread is a regular expression: only threads whose name it matches are asked for. Empty: all. For mode bounded.
	Thread string `mapstructure:"thread"`

	_ struct{}
}

// PathMode is a kind of critical path.
type PathMode string

// The kinds of critical paths.
const (
	PathBounded   PathMode = "bounded"
	PathUnbounded PathMode = "unbounded"
	PathOff       PathMode = "off"
)

// UnmarshalText refuses what is no mode.
func (m *PathMode) UnmarshalText(text []byte) error {
	switch mode := PathMode(text); mode {
	case PathBounded, PathUnbounded, PathOff:
		*m = mode
		return nil
	}
	return fmt.Errorf("%q is no mode, use bounded, unbounded or off", text)
}

var _ component.Config = (*Config)(nil)

func createDefaultConfig() component.Config {
	return &Config{
		Window: 10 * time.Second, MaxSpansPerWindow: 2000, MaxIntervalsPerWindow: 1_000_000, MaxSessions: 1000,
		SessionTimeout: time.Minute, ReorderTimeout: 5 * time.Second,
		CriticalPath: CriticalPathConfig{Mode: PathBounded},
	}
}

// Validate reports every option that cannot work, with what to write instead.
func (c *Config) Validate() error {
	return errors.Join(
		within("window", c.Window, 10*time.Millisecond, time.Hour),
		within("session_timeout", c.SessionTimeout, time.Second, 24*time.Hour),
		within("reorder_timeout", c.ReorderTimeout, 10*time.Millisecond, time.Hour),
		atLeast("max_spans_per_window", c.MaxSpansPerWindow, 0, " (0 keeps all)"),
		atLeast("max_intervals_per_window", c.MaxIntervalsPerWindow, 1000, ""),
		atLeast("max_sessions", c.MaxSessions, 1, ""),
	)
}

// Validate reports a pattern that is no regular expression.
func (c *CriticalPathConfig) Validate() error {
	if c.Thread != "" && c.Mode != PathBounded {
		return fmt.Errorf("thread: it has no meaning with mode %s; leave it out, or use mode bounded", c.Mode)
	}
	if _, err := regexp.Compile(c.Thread); err != nil {
		return fmt.Errorf("thread: %w; use a regular expression such as ^http-", err)
	}
	return nil
}

func within(key string, d, least, most time.Duration) error {
	if d < least || d > most {
		return fmt.Errorf("%s: %v is out of range, use a duration from %v to %v such as 10s", key, d, least, most)
	}
	return nil
}

func atLeast(key string, n, least int, remark string) error {
	if n < least {
		return fmt.Errorf("%s: %d is out of range, use %d or more%s", key, n, least, remark)
	}
	return nil
}
