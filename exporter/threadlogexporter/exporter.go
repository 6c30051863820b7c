// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadlogexporter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/exporter/threadlogexporter/internal/metadata"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// tick is how often sessions are looked at that say nothing.
const tick = time.Second

// threadLog writes the carriers among the spans that it gets, each session to files of its own. It has no use for other spans.
type threadLog struct {
	cfg       *Config
	format    writable
	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder

	mu       sync.Mutex
	sessions map[jvmthread.SessionID]*session
	ended    sessions.Recent // in order: what still comes of them is late

	warned atomic.Bool // of refused carriers
	stop   context.CancelFunc
	wg     sync.WaitGroup
}

func newThreadLog(cfg *Config, set exporter.Settings) (*threadLog, error) {
	tb, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	return &threadLog{
		cfg: cfg, format: findFormat(cfg.Format), logger: set.Logger, telemetry: tb, sessions: make(map[jvmthread.SessionID]*session),
	}, nil
}

// start makes the directory, so that what is wrong with it is known at once.
func (t *threadLog) start(context.Context, component.Host) error {
	if err := tryDirectory(t.cfg.Directory); err != nil {
		return fmt.Errorf("directory: %w; give one that can be written to", err)
	}
	t.logger.Info("thread events are written to files; some of them the format cannot hold",
		zap.String("format", t.format.Name), zap.String("directory", t.cfg.Directory), zap.Strings("left_out", t.format.Carries.Lacks()))
	ctx, cancel := context.WithCancel(context.Background())
	t.stop = cancel
	t.wg.Go(func() { t.watch(ctx) })
	return nil
}

// tryDirectory makes a directory, and finds out whether files can be made in it.
func tryDirectory(path string) error {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return err
	}
	file, err := os.CreateTemp(path, ".weft-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// shutdown writes what is held, and ends all files; the sessions may go on in others.
func (t *threadLog) shutdown(ctx context.Context) error {
	if t.stop != nil {
		t.stop()
	}
	t.wg.Wait()
	t.mu.Lock()
	all := t.sessions
	t.sessions = make(map[jvmthread.SessionID]*session)
	t.mu.Unlock()
	for _, s := range all {
		s.close(ctx, "")
		t.telemetry.ExporterThreadLogSessions.Add(ctx, -1)
	}
	t.telemetry.Shutdown()
	return nil
}

// push writes the carriers of td. What cannot be written is counted and logged, not returned as an error: the sender would repeat all.
func (t *threadLog) push(ctx context.Context, td ptrace.Traces) error {
	touched := make(map[*session]struct{}, 1)
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			if !threadpdata.IsCarrier(ss.Scope()) {
				continue
			}
			for _, span := range ss.Spans().All() {
				if s := t.take(ctx, rs.Resource(), span); s != nil {
					touched[s] = struct{}{}
				}
			}
		}
	}
	for s := range touched {
		if s.advance(ctx) {
			t.drop(ctx, s)
		}
	}
	return nil
}

// take gives a carrier to its session, and returns the session; nil if the carrier is refused.
func (t *threadLog) take(ctx context.Context, res pcommon.Resource, span ptrace.Span) *session {
	for {
		s, err := t.session(ctx, res, span)
		if err == nil {
			if err = s.take(span); err == errClosed { //nolint:errorlint // is returned as it is
				continue // it was ended just now; what comes begins a new one
			}
		}
		if err != nil {
			t.refuse(ctx, span, err)
			return nil
		}
		return s
	}
}

// session finds the session of a carrier, or begins one if the carrier is good.
func (t *threadLog) session(ctx context.Context, res pcommon.Resource, span ptrace.Span) (*session, error) {
	id := jvmthread.SessionID(span.TraceID())
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.sessions[id]; s != nil {
		return s, nil
	}
	if t.ended.Has(id) {
		return nil, errors.New("the session is over")
	}
	if len(t.sessions) >= t.cfg.MaxSessions {
		return nil, fmt.Errorf("max_sessions is %d", t.cfg.MaxSessions)
	}
	if err := threadpdata.Check(span); err != nil {
		return nil, err
	}
	s := newSession(t, id, res)
	t.sessions[id] = s
	t.telemetry.ExporterThreadLogSessions.Add(ctx, 1)
	return s, nil
}

// refuse counts the events of a carrier that is not taken.
func (t *threadLog) refuse(ctx context.Context, span ptrace.Span, err error) {
	t.lost(ctx, whereRefused, uint64(span.Events().Len()))
	if first := t.warned.CompareAndSwap(false, true); first {
		t.logger.Warn("thread events were refused; later ones are counted only", zap.Error(err))
	}
}

// drop forgets a session that is over.
func (t *threadLog) drop(ctx context.Context, s *session) {
	t.mu.Lock()
	known := t.sessions[s.info.ID] == s
	if known {
		delete(t.sessions, s.info.ID)
		if s.over {
			t.ended.Add(s.info.ID)
		}
	}
	t.mu.Unlock()
	if known {
		t.telemetry.ExporterThreadLogSessions.Add(ctx, -1)
	}
}

// watch looks after the sessions of which nothing comes, until ctx ends.
func (t *threadLog) watch(ctx context.Context) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			t.mu.Lock()
			all := make([]*session, 0, len(t.sessions))
			for _, s := range t.sessions {
				all = append(all, s)
			}
			t.mu.Unlock()
			for _, s := range all {
				if s.check(ctx, now) {
					t.drop(ctx, s)
				}
			}
		}
	}
}

// Where events are lost.
const (
	whereAgent   = "agent"
	whereMissed  = "missed"
	whereRefused = "refused"
	whereWrite   = "write"
)

func (t *threadLog) lost(ctx context.Context, where string, n uint64) {
	if n > 0 {
		t.telemetry.ExporterThreadLogEventsLost.Add(ctx, int64(n), metric.WithAttributes(attribute.String("where", where)))
	}
}
