// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/sessions/journal"
)

// Follower processes the windows of one session. Calls never overlap. After a panic in any part of the session, Closed and Take are the only ones
// that follow.
type Follower interface {
	// Window receives each complete window. The window is valid until the call returns.
	Window(w *window.Window)
	// Advanced is called after the engine has advanced and its complete windows were passed to Window. The report of the engine's Requests
	// is valid until the call returns.
	Advanced()
	// Closed is called once, after the last window. There may be a last report. If why is CutFailed, the state of the engine is unknown and not
	// to be read; the Follower may be in the middle of a call of Window, and drops what it has of that window.
	Closed(why window.Cut)
	// Take returns what delivers the results that are ready; nil if there are none.
	Take() Delivery
}

// Aggregator is a Follower that also processes the sums that an agent in aggregated mode sends instead of events.
type Aggregator interface {
	// Aggregate receives each aggregate once, in any order. The aggregate is valid until the call returns.
	Aggregate(a *jvmthread.Aggregate)
}

// Holder is a Follower that holds memory of its own.
type Holder interface {
	// Held estimates the bytes, without the results that Take has returned.
	Held() int
}

// Analyzer analyzes each session once, for one component or for several that share it: each carrier is decoded and put in order once, and
// there is one engine for each length of windows, whose windows have one critical path and one selection of spans.
type Analyzer struct {
	Options Options

	set    *Set
	logger *zap.Logger

	mu      sync.Mutex
	members []*Member

	starting, stopping sync.Once
}

// NewAnalyzer returns an Analyzer without members.
func NewAnalyzer(options Options, logger *zap.Logger) *Analyzer {
	a := &Analyzer{Options: options, logger: logger}
	a.set = New(Settings{Config: options.Config(), Logger: logger, Open: a.open})
	a.set.metrics.Store(new([]Metrics))
	return a
}

// Keep makes the open windows survive a crash, in a storage that the Analyzer closes. Call it once, before the first
// carrier.
func (a *Analyzer) Keep(client storage.Client) {
	const mebibyte = 1 << 20
	a.set.journal = journal.New(client, int64(a.Options.JournalLimitMiB)*mebibyte, a.logger)
}

// Trust makes a signature with one of the keys of the options necessary, if there are any. Call it once, before the first carrier.
func (a *Analyzer) Trust() error {
	keys, err := a.Options.Carriers.Load()
	a.set.Trust(keys)
	return err
}

// Member is a component that uses an Analyzer.
type Member struct {
	MemberSettings
	analyzer *Analyzer
}

// MemberSettings are what a component needs of an Analyzer.
type MemberSettings struct {
	Metrics Metrics
	// Window is the length of the windows that the component gets; 0: that of the options.
	Window time.Duration
	// Requests says which waits of requests the component wants, nil for none. Of several components, the first one decides.
	Requests *requests.Config
	// Follow is called for each new session, before its first carrier is processed.
	Follow func(*Session) Follower
}

// Join adds a component, which follows the sessions that start from then on. The first component starts the watch for silent sessions and
// missing batches.
func (a *Analyzer) Join(settings MemberSettings) *Member {
	m := &Member{settings, a}
	if m.Window == 0 {
		m.Window = a.Options.Window
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.members = append(a.members, m)
	metrics := append(slices.Clip(*a.set.metrics.Load()), settings.Metrics)
	a.set.metrics.Store(&metrics)
	a.set.passed.shared.Store(len(a.members) > 1)
	a.starting.Do(a.set.Start)
	return m
}

// Shutdown closes all sessions, and delivers what they hold. It may be called again. The first component that stops calls it: the collector
// stops senders first, so no carriers arrive any more, and the next consumers of all components still run.
func (a *Analyzer) Shutdown(ctx context.Context) {
	a.stopping.Do(func() {
		a.set.Shutdown(ctx)
		if a.set.journal == nil {
			return
		}
		if err := a.set.journal.Close(ctx); err != nil {
			a.logger.Warn("Cannot close the journal", zap.Error(err))
		}
	})
}

// Consume takes the carriers in td; see Set.Consume. Carriers that another member has brought are skipped.
func (m *Member) Consume(ctx context.Context, td ptrace.Traces) error {
	return m.analyzer.set.Consume(ctx, td)
}

// Shutdown ends the analysis for all members.
func (m *Member) Shutdown(ctx context.Context) { m.analyzer.Shutdown(ctx) }

// Each calls visit with the member's Follower of each session, one after the other and with the session locked, and delivers what is ready
// then. It leaves out sessions that are in the middle of a large window.
func (m *Member) Each(ctx context.Context, visit func(Follower)) {
	set := m.analyzer.set
	for _, e := range set.all() {
		set.visit(ctx, e, func() (silent bool) {
			if f := e.handler.(*analysis).follower(m); f != nil {
				visit(f)
			}
			return false
		})
	}
}
