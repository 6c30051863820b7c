// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadlogexporter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/weft-otel/weft/internal/sessions"
)

// Config says what is written where.
type Config struct {
	// Format is native, orca, tptp or triples.
	Format string `mapstructure:"format"`
	// Directory is where the files go; it is made if it is not there. Each session has files of its own.
	Directory string `mapstructure:"directory"`
	// Stacks says whether call stacks are written, in formats that have them.
	Stacks bool `mapstructure:"stacks"`
	// TimeUnit is what a time is counted in, from 1ns to 1s; for tptp only.
	TimeUnit time.Duration `mapstructure:"time_unit"`
	// RelativeTimes counts times from the first event of the session, in place of from 1970 on.
	RelativeTimes bool `mapstructure:"relative_times"`
	// Rotation says when a file is full, and what becomes of it.
	Rotation Rotation `mapstructure:"rotation"`
	// MaxSessions bounds the JVMs written at one time; events of more are refused.
	MaxSessions int `mapstructure:"max_sessions"`
	// SessionTimeout ends a session of which nothing was heard for so long.
	SessionTimeout time.Duration `mapstructure:"session_timeout"`
	// ReorderTimeout is how long a missing batch is waited for before it is counted as lost.
	ReorderTimeout time.Duration `mapstructure:"reorder_timeout"`

	_ struct{} // keys, please
}

// Rotation says when a file is full, and what becomes of it.
type Rotation struct {
	// MaxMegabytes is how large a file may be; a batch more is possible.
	MaxMegabytes int `mapstructure:"max_megabytes"`
	// MaxBackups is how many full files of a session are kept; 0: all.
	MaxBackups int `mapstructure:"max_backups"`
	// MaxDays is for how long full files of a session are kept while it goes on; 0: for ever.
	MaxDays int `mapstructure:"max_days"`
	// Compression of full files: none, gzip or zstd.
	Compression string `mapstructure:"compression"`

	_ struct{}
}

var _ component.Config = (*Config)(nil)

func createDefaultConfig() component.Config {
	return &Config{
		Format: "orca", Stacks: true, MaxSessions: 100, SessionTimeout: time.Minute, ReorderTimeout: 5 * time.Second, TimeUnit: time.Second,
		Rotation: Rotation{MaxMegabytes: 100, MaxBackups: 10, Compression: "none"},
	}
}

// Validate reports every option that cannot work, with what to write instead.
func (c *Config) Validate() error {
	return errors.Join(
		oneOf("format", c.Format, formatNames()),
		c.validateDirectory(),
		c.validateUnit(),
		sessions.Within("session_timeout", c.SessionTimeout, time.Second, 24*time.Hour),
		sessions.Within("reorder_timeout", c.ReorderTimeout, 10*time.Millisecond, time.Hour),
		inRange("max_sessions", c.MaxSessions, 1, 10_000),
	)
}

func (c *Config) validateDirectory() error {
	if c.Directory == "" {
		return errors.New("directory: is empty, give the directory that files are written to")
	}
	return nil
}

func (c *Config) validateUnit() error {
	if c.TimeUnit != time.Second && c.Format != "tptp" {
		return fmt.Errorf("time_unit: format %s has a unit of its own; leave it out", c.Format)
	}
	if !slices.Contains([]time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond}, c.TimeUnit) {
		return fmt.Errorf("time_unit: %v is none, use 1s, 1ms, 1us or 1ns", c.TimeUnit)
	}
	return nil
}

// Validate reports every option that cannot work, with what to write instead.
func (r *Rotation) Validate() error {
	return errors.Join(
		inRange("max_megabytes", r.MaxMegabytes, 1, 1<<20),
		inRange("max_backups", r.MaxBackups, 0, 1<<20),
		inRange("max_days", r.MaxDays, 0, 100_000),
		oneOf("compression", r.Compression, []string{"none", "gzip", "zstd"}),
	)
}

func oneOf(key, value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s: %q is none, use %s", key, value, strings.Join(allowed, ", "))
}

func inRange(key string, n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("%s: %d is out of range, use %d to %d", key, n, least, most)
	}
	return nil
}
