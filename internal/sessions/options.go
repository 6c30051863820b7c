// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"runtime/debug"
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/weft-otel/weft/internal/engine"
	"github.com/weft-otel/weft/internal/engine/waits"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/origin"
)

// Options are the user's settings for sessions and their windows. Components with equal options cut the same windows, find the same
// critical paths and keep the same spans, so that one can refer to spans that another one creates.
type Options struct {
	// Window is the length of the slice of a session that becomes one trace, from 10ms to 1h. Windows start at multiples of it,
	// shifted by the phase of the session.
	Window time.Duration `mapstructure:"window"`
	// MaxSpansPerWindow bounds the spans of one trace; 0 keeps all.
	MaxSpansPerWindow int `mapstructure:"max_spans_per_window"`
	// MaxIntervalsPerWindow bounds the intervals held for one session, at 74 bytes each. Above it, the window is cut early.
	MaxIntervalsPerWindow int `mapstructure:"max_intervals_per_window"`
	// MaxSessions bounds the JVMs followed concurrently; events of further JVMs are refused.
	MaxSessions int `mapstructure:"max_sessions"`
	// SessionTimeout is the silence after which a session ends.
	SessionTimeout time.Duration `mapstructure:"session_timeout"`
	// ReorderTimeout is how long to wait for a missing batch before its events are counted as missed.
	ReorderTimeout time.Duration `mapstructure:"reorder_timeout"`
	// SessionsLimitMiB bounds what is held for all sessions. Near it, the windows of the fullest session are cut early; beyond it, senders wait,
	// and then events are dropped. 0: 60 % of GOMEMLIMIT if that is set.
	SessionsLimitMiB int `mapstructure:"sessions_limit_mib"`
	// AckWithin is how long senders wait at most for their events to be processed, and for windows that end to be sent.
	AckWithin time.Duration `mapstructure:"ack_within"`

	// Storage is the extension that keeps the open windows, so that they survive a crash. Nil: they are lost.
	Storage *component.ID `mapstructure:"storage"`
	// JournalLimitMiB bounds what the storage keeps, from 1 MiB.
	JournalLimitMiB int `mapstructure:"journal_limit_mib"`

	// Carriers are the keys, one of which must have signed what arrives from other collectors. None: a session belongs to who sent it first.
	Carriers origin.Config `mapstructure:"carriers"`

	// CriticalPath selects the critical path that each window shows.
	CriticalPath PathOptions `mapstructure:"critical_path"`
	// Frames say whose code the frames of stacks are.
	Frames FrameOptions `mapstructure:"frames"`

	_ struct{} // prevents unkeyed literals
}

// PathOptions select the critical path that each window shows.
type PathOptions struct {
	// Mode is bounded (what the thread that others kept from its work longest had to wait for), unbounded (the path of the program, backwards from the
	// thread that ran last) or off.
	Mode PathMode `mapstructure:"mode"`
	// Thread is a regular expression that selects threads by name in mode bounded; empty selects all.
	Thread string `mapstructure:"thread"`
	// WhatIf computes how much earlier the path's thread would have finished without contention, and how much longer waits could have lasted.
	WhatIf bool `mapstructure:"what_if"`

	_ struct{}
}

// FrameOptions say whose code the frames of stacks are. A wait is attributed to the first frame of the application. Each name is a prefix of
// class names, such as com.acme.framework.
type FrameOptions struct {
	// Libraries are packages that are not the application, in addition to the JDK and widely used frameworks.
	Libraries []string `mapstructure:"libraries"`
	// Applications are packages that are the application, although they belong to the JDK or a known framework.
	Applications []string `mapstructure:"applications"`

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

// UnmarshalText accepts the valid modes only.
func (m *PathMode) UnmarshalText(text []byte) error {
	switch mode := PathMode(text); mode {
	case PathBounded, PathUnbounded, PathOff:
		*m = mode
		return nil
	}
	return fmt.Errorf("invalid mode %q, use bounded, unbounded or off", text)
}

// DefaultOptions suit a thousand JVMs, and traces that Jaeger's UI can show.
func DefaultOptions() Options {
	return Options{
		Window: 10 * time.Second, MaxSpansPerWindow: 2000, MaxIntervalsPerWindow: 1_000_000, MaxSessions: 1000,
		SessionTimeout: time.Minute, ReorderTimeout: 5 * time.Second, AckWithin: 250 * time.Millisecond, JournalLimitMiB: 512,
		CriticalPath: PathOptions{Mode: PathBounded, WhatIf: true},
	}
}

// Validate reports all invalid options and their valid values.
func (o *Options) Validate() error {
	return errors.Join(
		Within("window", o.Window, 10*time.Millisecond, time.Hour),
		Within("session_timeout", o.SessionTimeout, time.Second, 24*time.Hour),
		Within("reorder_timeout", o.ReorderTimeout, 10*time.Millisecond, time.Hour),
		o.validateMemory(),
		Within("ack_within", o.AckWithin, 0, time.Hour),
		AtLeast("max_spans_per_window", o.MaxSpansPerWindow, 0, " (0 keeps all)"),
		AtLeast("max_intervals_per_window", o.MaxIntervalsPerWindow, 1000, ""),
		AtLeast("journal_limit_mib", o.JournalLimitMiB, 1, ""),
		AtLeast("max_sessions", o.MaxSessions, 1, ""),
	)
}

// Validate reports an invalid regular expression, and options without effect.
func (o *PathOptions) Validate() error {
	if !o.WhatIf && o.Mode == PathOff {
		return fmt.Errorf("what_if: has no effect in mode %s; remove it, or use mode bounded", o.Mode)
	}
	if o.Thread != "" && o.Mode != PathBounded {
		return fmt.Errorf("thread: has no effect in mode %s; remove it, or use mode bounded", o.Mode)
	}
	if _, err := regexp.Compile(o.Thread); err != nil {
		return fmt.Errorf("thread: %w; use a regular expression such as ^http-", err)
	}
	return nil
}

// Validate reports a prefix that all classes have.
func (o *FrameOptions) Validate() error {
	return errors.Join(noneEmpty("libraries", o.Libraries), noneEmpty("applications", o.Applications))
}

func noneEmpty(key string, prefixes []string) error {
	if slices.Contains(prefixes, "") {
		return fmt.Errorf("%s: a prefix is empty; remove it, or use a package such as %q", key, "com.acme.")
	}
	return nil
}

// Within reports a duration that is out of range.
func Within(key string, d, least, most time.Duration) error {
	if d < least || d > most {
		return fmt.Errorf("%s: %v is out of range, use a duration from %v to %v such as 10s", key, d, least, most)
	}
	return nil
}

// AtLeast reports a number that is too small.
func AtLeast(key string, n, least int, remark string) error {
	if n < least {
		return fmt.Errorf("%s: %d is out of range, use %d or more%s", key, n, least, remark)
	}
	return nil
}

// leastMemory is what a few sessions need, in MiB.
const leastMemory = 16

func (o *Options) validateMemory() error {
	if o.SessionsLimitMiB != 0 && o.SessionsLimitMiB < leastMemory {
		return fmt.Errorf("sessions_limit_mib: %d is out of range, use %d or more, or 0 for a part of GOMEMLIMIT", o.SessionsLimitMiB, leastMemory)
	}
	return nil
}

// ShareOfGo is the part of GOMEMLIMIT that sessions may take. The rest is for other components, and for garbage.
const ShareOfGo = 0.6

// memoryLimit returns the limit in bytes, 0 for none.
func (o *Options) memoryLimit() int64 {
	if o.SessionsLimitMiB > 0 {
		return int64(o.SessionsLimitMiB) << 20
	}
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return int64(ShareOfGo * float64(limit))
	}
	return 0
}

// Config returns the configuration of a Set.
func (o *Options) Config() Config {
	eng := engine.DefaultConfig()
	eng.Rules = o.Frames.Rules()
	eng.Window, eng.Limits = o.Window, window.Limits{Intervals: o.MaxIntervalsPerWindow}
	return Config{Engine: eng, MaxSessions: o.MaxSessions, SessionTimeout: o.SessionTimeout, ReorderTimeout: o.ReorderTimeout, AckWithin: o.AckWithin, MemoryLimit: o.memoryLimit()}
}

// Rules returns the rules for kinds of waits and for the application's code.
func (o *FrameOptions) Rules() *waits.Rules {
	return waits.NewRules(waits.Config{Libraries: o.Libraries, Applications: o.Applications})
}

// NewFinder returns a finder of critical paths in the windows of a session; nil in mode off. It borrows its memory: each window must be
// released after use.
func (o *Options) NewFinder(sym *symbols.Table) *window.Finder {
	p := &o.CriticalPath
	if p.Mode == PathOff {
		return nil
	}
	f := window.NewFinder()
	f.Unbounded, f.NoWhatIf, f.About, f.Memory = p.Mode == PathUnbounded, !p.WhatIf, sym.Thread, pathMemory
	if p.Thread != "" {
		pattern := regexp.MustCompile(p.Thread) // Validate has compiled it
		f.Wanted = func(id jvmthread.ThreadID) bool { return pattern.MatchString(sym.Thread(id).Name) }
	}
	return f
}
