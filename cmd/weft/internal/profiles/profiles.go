// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package profiles answers: which stacks of a recording waited, and which made others wait? It reads recordings and writes profiles in the formats
// of other tools.
package profiles

import (
	"fmt"
	"math"
	"time"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/stackprofile"
)

// Request selects what of a recording becomes a profile.
type Request struct {
	Family profile.Family
	Idle   bool // include sleeps and the waits of threads without work
}

// Limits of a session: the tables of symbols have fewer stacks, so these are never reached.
const (
	maxSamples = 1 << 20
	links      = 10 // requests of a stack that have their own samples
)

// Read reads a recording to its end, and sums up its sessions in one profile. The error lists what cannot be read; the profile contains the rest.
func Read(source replay.Source, req Request) (*stackprofile.Profile, error) {
	c := &collector{family: req.Family, profile: stackprofile.Profile{Family: req.Family}, start: math.MaxInt64, end: math.MinInt64}
	c.config = profile.Config{
		Waiters: req.Family != profile.Mutex, Uncontended: req.Family == profile.OffCPU, Holders: req.Family == profile.Mutex, Idle: req.Idle, Links: links, MaxSamples: maxSamples,
		Budget: &contention.Budget{Limit: math.MaxInt64},
	}
	format, r, free, err := open(&source)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", printable.Text(source.Name), err)
	}
	defer free()
	if err = replay.Play(&format, source, r, c); err != nil {
		err = fmt.Errorf("%s: %w", printable.Text(source.Name), err)
	}
	if c.start <= c.end {
		c.profile.Start, c.profile.Duration = time.Unix(0, int64(c.start)), c.end.Sub(c.start)
	}
	return &c.profile, err
}

// collector adds up the sessions of a recording.
type collector struct {
	config     profile.Config
	family     profile.Family
	profile    stackprofile.Profile
	start, end jvmthread.Time
	session    *replay.Session
	account    *profile.Account
}

// Session implements [replay.Sink].
func (c *collector) Session(s *replay.Session) {
	c.session = s
	c.account = profile.New(&c.config, s.Symbols, s.Engine.Waits())
}

// Window implements [replay.Sink].
func (c *collector) Window(w *window.Window) {
	c.start, c.end = min(c.start, w.Start), max(c.end, w.End)
	c.account.Window(w, c.session.Engine.Timeline())
}

// Aggregate implements [replay.Sink].
func (c *collector) Aggregate(a *jvmthread.Aggregate) {
	c.start, c.end = min(c.start, a.From), max(c.end, a.To)
	c.account.Aggregate(a)
}

// Close implements [replay.Sink].
func (c *collector) Close() {
	e := c.session.Engine
	c.account.Close(e.Timeline(), e.Now())
	resolver := stackprofile.Resolver{Account: c.account, Symbols: c.session.Symbols}
	c.account.Flush(func(f profile.Family, samples []profile.Sample) {
		if f == c.family {
			c.profile.Append(resolver.Resolve(f, samples, time.Time{}, 0))
		}
	})
}
