// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"go.opentelemetry.io/collector/component"

	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
)

// Config configures which recordings are read, and how.
type Config struct {
	// Include are path patterns: * matches within a folder, ** across folders.
	Include []string `mapstructure:"include"`
	// Exclude are patterns of paths to skip.
	Exclude []string `mapstructure:"exclude"`
	// Format of all files: native, jfr, orca, tptp, triples or otlp. Empty detects it by content.
	Format string `mapstructure:"format"`
	// Follow reads files as they grow and looks for new ones. Otherwise, files present at the start are read once.
	Follow bool `mapstructure:"follow"`
	// PollInterval is how often followed files are checked.
	PollInterval time.Duration `mapstructure:"poll_interval"`
	// Pace is the replay speed: 0 is as fast as possible, 1 as recorded, 10 ten times as fast.
	Pace float64 `mapstructure:"pace"`
	// Start is the wall-clock time of the first event, for formats with another time origin. Zero keeps recorded times.
	Start time.Time `mapstructure:"start"`
	// TimeUnit is the unit of recorded times, for formats that do not define it. 0 uses the format's default.
	TimeUnit time.Duration `mapstructure:"time_unit"`
	// MaxRecordSize is the maximum size in bytes of a line, an element or a frame; longer ones are skipped.
	MaxRecordSize int `mapstructure:"max_record_size"`
	// MaxUnpackedSize is the maximum number of bytes that are read of a compressed file, decompressed.
	MaxUnpackedSize int64 `mapstructure:"max_unpacked_size"`
	// MaxFiles is the maximum number of files read concurrently.
	MaxFiles int `mapstructure:"max_files"`
	// Storage is the extension that keeps the read positions across restarts. Nil keeps none.
	Storage *component.ID `mapstructure:"storage"`

	_ struct{} // prevents unkeyed literals
}

// The range of max_record_size. A record is held in memory as a whole.
const (
	minRecordSize = 1 << 10
	maxRecordSize = 256 << 20
)

// minUnpackedSize holds a chunk of the size that JVMs write.
const minUnpackedSize = 16 << 20

const minPollInterval = time.Millisecond

// latestStart leaves room for a recording: nanoseconds since 1970 end in 2262.
var latestStart = time.Date(2200, time.December, 31, 0, 0, 0, 0, time.UTC)

// DefaultConfig returns the defaults, without any files to read.
func DefaultConfig() Config {
	return Config{PollInterval: time.Second, MaxFiles: 16, MaxRecordSize: recording.DefaultMaxRecord, MaxUnpackedSize: recording.DefaultMaxUnpacked}
}

// Check reports every invalid option with its full path and the remedy.
func (c *Config) Check() error {
	var errs []error
	report := func(option, format string, args ...any) {
		errs = append(errs, fmt.Errorf("protocols::file::%s: %s", option, fmt.Sprintf(format, args...)))
	}
	if len(c.Include) == 0 {
		report("include", "is empty; list paths such as /var/recordings/**/*.jfr")
	}
	patterns := func(option string, list []string) {
		for _, pattern := range list {
			if !doublestar.ValidatePathPattern(pattern) {
				report(option, "invalid pattern %q; escape special characters with a backslash", pattern)
			}
		}
	}
	patterns("include", c.Include)
	patterns("exclude", c.Exclude)
	if c.Format != "" {
		if _, err := formats.Find(c.Format); err != nil {
			report("format", "%v", err)
		}
	}
	if c.PollInterval < minPollInterval {
		report("poll_interval", "is %v; use %v or more, such as 1s", c.PollInterval, minPollInterval)
	}
	if !(c.Pace >= 0 && c.Pace <= math.MaxInt32) { // also rejects NaN
		report("pace", "is %v; use 0 (as fast as possible), 1 (as recorded) or a factor", c.Pace)
	}
	if !c.Start.IsZero() && (c.Start.Before(time.Unix(0, 0)) || c.Start.After(latestStart)) {
		report("start", "is %s; use a time from 1970 to 2200, such as 2026-11-21T16:50:00Z", c.Start.Format(time.RFC3339))
	}
	if c.TimeUnit < 0 || c.TimeUnit > time.Second {
		report("time_unit", "is %v; use 0 (the format's default) or 1ns to 1s, such as 1ms", c.TimeUnit)
	}
	if c.MaxRecordSize < minRecordSize || c.MaxRecordSize > maxRecordSize {
		report("max_record_size", "is %d; use %d to %d bytes", c.MaxRecordSize, minRecordSize, maxRecordSize)
	}
	if c.MaxUnpackedSize < minUnpackedSize {
		report("max_unpacked_size", "is %d; use %d bytes or more", c.MaxUnpackedSize, minUnpackedSize)
	}
	if c.MaxFiles < 1 {
		report("max_files", "is %d; use 1 or more", c.MaxFiles)
	}
	return errors.Join(errs...)
}
