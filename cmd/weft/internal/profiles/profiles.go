// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package profiles answers: which stacks of a recording waited, and which made others wait? It reads recordings and writes profiles in the formats
// of other tools.
package profiles

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/engine"
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
// It is nil if that is nothing.
func Read(source replay.Source, req Request) (*stackprofile.Profile, error) {
	p := &stackprofile.Profile{Family: req.Family}
	c := newCollector(profile.Config{
		Waiters: req.Family != profile.Mutex, Uncontended: req.Family == profile.OffCPU, Holders: req.Family == profile.Mutex, Idle: req.Idle, Links: links,
		MaxSamples: maxSamples, Budget: &contention.Budget{Limit: math.MaxInt64},
	}, func(c *collector, f profile.Family, samples []profile.Sample) {
		if f == req.Family {
			resolver := stackprofile.Resolver{Account: c.account, Symbols: c.session.Symbols}
			p.Append(resolver.Resolve(f, samples, time.Time{}, 0))
		}
	})
	err := c.read(source)
	switch {
	case c.start <= c.end:
		p.Start, p.Duration = time.Unix(0, int64(c.start)), c.end.Sub(c.start)
	case err != nil:
		return nil, err
	}
	return p, err
}

// collector adds up the sessions of a recording.
type collector struct {
	config     profile.Config
	report     func(c *collector, f profile.Family, samples []profile.Sample) // of a session
	start, end jvmthread.Time
	session    *replay.Session
	account    *profile.Account
}

func newCollector(config profile.Config, report func(*collector, profile.Family, []profile.Sample)) *collector {
	return &collector{config: config, report: report, start: math.MaxInt64, end: math.MinInt64}
}

func (c *collector) read(source replay.Source) error {
	if err := replay.Play(context.Background(), source, engine.DefaultConfig(), c); err != nil {
		return fmt.Errorf("%s: %w", printable.Text(source.Name), err)
	}
	return nil
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
func (c *collector) Close(window.Cut) {
	e := c.session.Engine
	c.account.Close(e.Timeline(), e.Now())
	c.account.Flush(func(f profile.Family, samples []profile.Sample) { c.report(c, f, samples) })
}
