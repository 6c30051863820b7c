// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"

	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
)

// File says which recordings are read, and how.
type File struct {
	// Include are paths; * matches within a folder, ** over folders.
	Include []string `mapstructure:"include"`
	// Exclude are paths that are left out of those.
	Exclude []string `mapstructure:"exclude"`
	// Format is that of all files: native, jfr, orca, tptp or triples. Empty: by what is in each.
	Format string `mapstructure:"format"`
	// Follow reads files as they grow, and those that come later. Else what is there at the start is read once.
	Follow bool `mapstructure:"follow"`
	// PollInterval is how often files are looked at, if they are followed.
	PollInterval time.Duration `mapstructure:"poll_interval"`
	// Pace is how fast recorded time goes by: 0 as fast as possible, 1 as it was, 10 ten times as fast.
	Pace float64 `mapstructure:"pace"`
	// Start is the wall-clock time of the first event, for formats whose times have another origin. Zero: their times are taken as they are.
	Start time.Time `mapstructure:"start"`
	// TimeUnit is that of the times in a recording, for formats that leave it open. 0: as the format says.
	TimeUnit time.Duration `mapstructure:"time_unit"`
	// MaxRecordSize bounds the bytes of a line, an element or a frame; longer ones are passed over.
	MaxRecordSize int `mapstructure:"max_record_size"`
	// MaxUnpackedSize bounds the bytes of the temporary file that a compressed flight recording is unpacked into; the rest is not read.
	MaxUnpackedSize int64 `mapstructure:"max_unpacked_size"`
	// MaxFiles bounds the files that are read at one time.
	MaxFiles int `mapstructure:"max_files"`
	// Storage is an extension that remembers over a restart what was read. Nil: nothing is remembered.
	Storage *component.ID `mapstructure:"storage"`
}

// What max_record_size may be: a record has to have room for something, and is held as a whole.
const (
	minRecordSize = 1 << 10
	maxRecordSize = 256 << 20
)

// minUnpackedSize has room for a chunk as a JVM writes it.
const minUnpackedSize = 16 << 20

const minPollInterval = time.Millisecond

// latestStart leaves room for what comes behind it: nanoseconds since 1970 reach to 2262.
var latestStart = time.Date(2200, time.December, 31, 0, 0, 0, 0, time.UTC)

func defaultFile() File {
	return File{PollInterval: time.Second, MaxFiles: 16, MaxRecordSize: recording.DefaultMaxRecord, MaxUnpackedSize: recording.DefaultMaxUnpacked}
}

// Unmarshal leaves the stream out if there are files and no stream: who replays recordings need not listen.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	if err := conf.Unmarshal(c); err != nil {
		return err
	}
	c.noStream = conf.IsSet("protocols::file") && !conf.IsSet("protocols::stream")
	return nil
}

func (f *File) validate() (errs []error) {
	complain := func(option, format string, args ...any) {
		errs = append(errs, fmt.Errorf("protocols::file::%s: %s", option, fmt.Sprintf(format, args...)))
	}
	if len(f.Include) == 0 {
		complain("include", "is empty; give paths, such as /var/recordings/**/*.jfr")
	}
	patterns := func(option string, list []string) {
		for _, pattern := range list {
			if !doublestar.ValidatePathPattern(pattern) {
				complain(option, "%q is not a pattern; escape special characters with a backslash", pattern)
			}
		}
	}
	patterns("include", f.Include)
	patterns("exclude", f.Exclude)
	if f.Format != "" {
		if _, err := formats.Find(f.Format); err != nil {
			complain("format", "%v", err)
		}
	}
	if f.PollInterval < minPollInterval {
		complain("poll_interval", "is %v; give %v or more, such as 1s", f.PollInterval, minPollInterval)
	}
	if !(f.Pace >= 0 && f.Pace <= math.MaxInt32) { // nor what is no number
		complain("pace", "is %v; give 0 (as fast as possible), 1 (as recorded) or a factor", f.Pace)
	}
	if !f.Start.IsZero() && (f.Start.Before(time.Unix(0, 0)) || f.Start.After(latestStart)) {
		complain("start", "is %s; give a time from 1970 to 2200, such as 2026-11-21T16:50:00Z", f.Start.Format(time.RFC3339))
	}
	if f.TimeUnit < 0 || f.TimeUnit > time.Second {
		complain("time_unit", "is %v; give 0 (as the format says) or 1ns to 1s, such as 1ms", f.TimeUnit)
	}
	if f.MaxRecordSize < minRecordSize || f.MaxRecordSize > maxRecordSize {
		complain("max_record_size", "is %d; give %d to %d bytes", f.MaxRecordSize, minRecordSize, maxRecordSize)
	}
	if f.MaxUnpackedSize < minUnpackedSize {
		complain("max_unpacked_size", "is %d; give %d bytes or more", f.MaxUnpackedSize, minUnpackedSize)
	}
	if f.MaxFiles < 1 {
		complain("max_files", "is %d; give 1 or more", f.MaxFiles)
	}
	return errs
}

var _ confmap.Unmarshaler = (*Config)(nil)

var errNoStorage = errors.New("there is no such extension, or it is no storage; add it to service::extensions")
