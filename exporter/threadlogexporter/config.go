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

	"github.com/weft-otel/weft/internal/origin"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/sessions"
)

// Config configures the exporter.
type Config struct {
	// Format is native, orca, tptp or triples.
	Format string `mapstructure:"format"`
	// Directory is where the files are written; it is created if necessary. Each session has its own files.
	Directory string `mapstructure:"directory"`
	// Stacks writes call stacks, in formats that have them.
	Stacks bool `mapstructure:"stacks"`
	// TimeUnit is the unit of times, from 1ns to 1s; for tptp only.
	TimeUnit time.Duration `mapstructure:"time_unit"`
	// RelativeTimes writes times since the first event of the session instead of since 1970.
	RelativeTimes bool `mapstructure:"relative_times"`
	// Rotation configures when a file is full, and what happens to it then.
	Rotation RotationConfig `mapstructure:"rotation"`
	// MaxSessions bounds the JVMs recorded concurrently; events of further JVMs are refused.
	MaxSessions int `mapstructure:"max_sessions"`
	// SessionTimeout is the silence after which a session ends.
	SessionTimeout time.Duration `mapstructure:"session_timeout"`
	// ReorderTimeout is how long to wait for a missing batch before its events are counted as missed.
	ReorderTimeout time.Duration `mapstructure:"reorder_timeout"`
	// Carriers are the keys, one of which must have signed what arrives from other collectors. None: a session belongs to who sent it first.
	Carriers origin.Config `mapstructure:"carriers"`

	_ struct{} // prevents unkeyed literals
}

// RotationConfig configures when a file is full, and what happens to it then.
type RotationConfig struct {
	// MaxMegabytes is the size at which a file is full; the last batch may exceed it.
	MaxMegabytes int `mapstructure:"max_megabytes"`
	// MaxBackups is how many full files of a session are kept; 0 keeps all.
	MaxBackups int `mapstructure:"max_backups"`
	// MaxDays is how long full files of a running session are kept; 0 keeps them forever.
	MaxDays int `mapstructure:"max_days"`
	// Compression is that of full files: none, gzip or zstd.
	Compression string `mapstructure:"compression"`

	_ struct{}
}

func createDefaultConfig() component.Config {
	return &Config{
		Format: "orca", Stacks: true, MaxSessions: 100, SessionTimeout: time.Minute, ReorderTimeout: 5 * time.Second, TimeUnit: time.Second,
		Rotation: RotationConfig{MaxMegabytes: 100, MaxBackups: 10, Compression: "none"},
	}
}

// Validate reports all invalid options and their valid values.
func (c *Config) Validate() error {
	return errors.Join(
		oneOf("format", c.Format, writable()),
		c.validateDirectory(),
		c.validateUnit(),
		sessions.Within("session_timeout", c.SessionTimeout, time.Second, 24*time.Hour),
		sessions.Within("reorder_timeout", c.ReorderTimeout, 10*time.Millisecond, time.Hour),
		inRange("max_sessions", c.MaxSessions, 1, 10_000),
	)
}

// writable returns the names of the formats that can be written.
func writable() (names []string) {
	all := formats.Writable()
	for i := range all {
		names = append(names, all[i].Name)
	}
	return names
}

func (c *Config) validateDirectory() error {
	if c.Directory == "" {
		return errors.New("directory: must not be empty")
	}
	return nil
}

func (c *Config) validateUnit() error {
	if c.TimeUnit != time.Second && c.Format != "tptp" {
		return fmt.Errorf("time_unit: format %s has a fixed unit; remove time_unit", c.Format)
	}
	if !slices.Contains([]time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond}, c.TimeUnit) {
		return fmt.Errorf("time_unit: invalid unit %v, use 1s, 1ms, 1us or 1ns", c.TimeUnit)
	}
	return nil
}

// Validate reports all invalid options and their valid values.
func (r *RotationConfig) Validate() error {
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
	return fmt.Errorf("%s: invalid value %q, use one of %s", key, value, strings.Join(allowed, ", "))
}

func inRange(key string, n, least, most int) error {
	if n < least || n > most {
		return fmt.Errorf("%s: %d is out of range, use %d to %d", key, n, least, most)
	}
	return nil
}
