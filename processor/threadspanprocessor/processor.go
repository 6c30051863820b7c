// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/window"
	"github.com/weft-otel/weft/processor/threadspanprocessor/internal/metadata"
)

// tick is how often sessions are looked at that say nothing.
const tick = time.Second

// threadSpan takes carriers out of what passes by, and sends the traces of windows to the same consumer. Other spans go through untouched.
type threadSpan struct {
	cfg       *Config
	next      consumer.Traces
	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder

	mu       sync.Mutex
	sessions map[jvmthread.SessionID]*session
	ended    recent // sessions that ended in order: what still comes of them is late

	warned atomic.Bool // of refused carriers

	stop context.CancelFunc
	wg   sync.WaitGroup
}

func newProcessor(cfg *Config, set processor.Settings, next consumer.Traces) (*threadSpan, error) {
	tb, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	return &threadSpan{
		cfg: cfg, next: next, logger: set.Logger, telemetry: tb,
		sessions: make(map[jvmthread.SessionID]*session),
	}, nil
}

func (*threadSpan) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

func (p *threadSpan) Start(context.Context, component.Host) error {
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	p.wg.Go(func() { p.watch(ctx) })
	return nil
}

// Shutdown closes all windows and sends them: nothing else protects what is held here.
func (p *threadSpan) Shutdown(ctx context.Context) error {
	if p.stop != nil {
		p.stop()
	}
	p.wg.Wait()
	p.mu.Lock()
	sessions := p.sessions
	p.sessions = make(map[jvmthread.SessionID]*session)
	p.mu.Unlock()
	for _, s := range sessions {
		p.send(ctx, s.close(window.CutShutdown))
		p.telemetry.ProcessorThreadSpanSessions.Add(ctx, -1)
	}
	p.telemetry.Shutdown()
	return nil
}

// ConsumeTraces takes the carriers out of td, and passes on what is left of it and the windows that are complete. Windows that the next
// component refuses are counted and logged, not returned as an error: the sender would repeat events that are taken already.
func (p *threadSpan) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	touched := make(map[*session]struct{}, 1)
	td.ResourceSpans().RemoveIf(func(rs ptrace.ResourceSpans) bool {
		found := false
		rs.ScopeSpans().RemoveIf(func(ss ptrace.ScopeSpans) bool {
			if !threadpdata.IsCarrier(ss.Scope()) {
				return false
			}
			found = true
			for _, span := range ss.Spans().All() {
				if s := p.take(ctx, rs, span); s != nil {
					touched[s] = struct{}{}
				}
			}
			return true
		})
		return found && rs.ScopeSpans().Len() == 0
	})
	for s := range touched {
		windows, end := s.advance()
		p.send(ctx, windows)
		if end != "" {
			p.drop(ctx, s, end)
		}
	}
	if td.ResourceSpans().Len() == 0 {
		return nil
	}
	return p.next.ConsumeTraces(ctx, td)
}

// take gives a carrier to its session, and returns the session; nil if the carrier is refused.
func (p *threadSpan) take(ctx context.Context, rs ptrace.ResourceSpans, span ptrace.Span) *session {
	id := jvmthread.SessionID(span.TraceID())
	for {
		s, odd := p.session(ctx, id, rs, span)
		if odd != "" {
			p.refuse(ctx, span, odd)
			return nil
		}
		err := s.take(span)
		if errors.Is(err, errClosed) {
			continue // it was ended just now; what comes begins a new one
		}
		if err != nil {
			p.refuse(ctx, span, oddCarrier)
			p.logger.Debug("a span in the scope of raw thread events is none of ours and was dropped", zap.Stringer("session", id), zap.Error(err))
		}
		return s
	}
}

// session finds the session of a carrier, or begins one if the carrier is good; else it says what is odd.
func (p *threadSpan) session(ctx context.Context, id jvmthread.SessionID, rs ptrace.ResourceSpans, span ptrace.Span) (s *session, odd string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s = p.sessions[id]; s != nil {
		return s, ""
	}
	switch {
	case p.ended.has(id):
		return nil, "after_end"
	case len(p.sessions) >= p.cfg.MaxSessions:
		return nil, "session_limit"
	}
	if err := threadpdata.Check(span); err != nil {
		p.logger.Debug("a span in the scope of raw thread events is none of ours and was dropped", zap.Stringer("session", id), zap.Error(err))
		return nil, oddCarrier
	}
	s = newSession(p, id, rs.Resource())
	p.sessions[id] = s
	p.telemetry.ProcessorThreadSpanSessions.Add(ctx, 1)
	return s, ""
}

const oddCarrier = "bad_carrier"

// refuse counts a carrier that is not taken, and its events as lost.
func (p *threadSpan) refuse(ctx context.Context, span ptrace.Span, odd string) {
	p.telemetry.ProcessorThreadSpanEventsLost.Add(ctx, int64(span.Events().Len()), whereRefused)
	p.odd(ctx, odd, 1)
	if first := p.warned.CompareAndSwap(false, true); first {
		p.logger.Warn("raw thread events were refused; later ones are counted only (events_lost, oddities)", zap.String("kind", odd))
	}
}

// send passes windows on. Nobody holds a lock. That the request which completed a window is cancelled says nothing of the window.
func (p *threadSpan) send(ctx context.Context, windows []ptrace.Traces) {
	ctx = context.WithoutCancel(ctx)
	for _, td := range windows {
		p.telemetry.ProcessorThreadSpanWindows.Add(ctx, 1)
		p.telemetry.ProcessorThreadSpanSpans.Add(ctx, int64(td.SpanCount()))
		if err := p.next.ConsumeTraces(ctx, td); err != nil {
			p.telemetry.ProcessorThreadSpanWindowsRefused.Add(ctx, 1)
			p.logger.Error("a window of thread spans was refused and is lost; give the exporter a sending_queue", zap.Error(err))
		}
	}
}

// drop forgets a session that is over. One that was lost may come back, and is then joined in its middle; one that ended does not.
func (p *threadSpan) drop(ctx context.Context, s *session, end string) {
	why := window.CutEnd
	if end == threadpdata.EndLost {
		why = window.CutLost
	}
	p.mu.Lock()
	if p.sessions[s.id] != s {
		p.mu.Unlock()
		return // somebody else was faster
	}
	delete(p.sessions, s.id)
	if why == window.CutEnd {
		p.ended.add(s.id)
	}
	p.mu.Unlock()
	p.telemetry.ProcessorThreadSpanSessions.Add(ctx, -1)
	p.send(ctx, s.close(why))
}

func (p *threadSpan) odd(ctx context.Context, kind string, n uint64) {
	if n > 0 {
		p.telemetry.ProcessorThreadSpanOddities.Add(ctx, int64(n), kindAttr(kind)) //nolint:gosec // a count
	}
}

var whereRefused = where("refused") //nolint:gochecknoglobals // read-only value

// recent remembers the last few ids.
type recent struct {
	ids  [1024]jvmthread.SessionID
	next int
}

func (r *recent) add(id jvmthread.SessionID) {
	r.ids[r.next%len(r.ids)] = id
	r.next++
}

func (r *recent) has(id jvmthread.SessionID) bool {
	for i := range min(r.next, len(r.ids)) {
		if r.ids[i] == id {
			return true
		}
	}
	return false
}
