// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contentionconnector

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/connector/contentionconnector/internal/metadata"
	"github.com/weft-otel/weft/extension/threadengineextension"
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/profile"
	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/printable/logs"
	"github.com/weft-otel/weft/internal/refusal"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// side is the connector in one pair of pipelines. All sides receive the same data; only the first one consumes it.
type side struct {
	*accountant

	feeds  bool
	forget func()
}

func (*side) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

// ConsumeTraces consumes carriers. It counts and logs downstream failures instead of returning them: the sender would repeat events that
// are already aggregated.
func (s *side) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	if s.feeds {
		return s.sessions.Consume(ctx, td)
	}
	return nil
}

func (s *side) Start(ctx context.Context, host component.Host) (err error) {
	s.starting.Do(func() { err = s.start(ctx, host) })
	return err
}

// Shutdown flushes all sides when the first one stops: the collector stops senders first, so that the consumers of all sides still run and no
// more data arrives.
func (s *side) Shutdown(ctx context.Context) error {
	s.forget()
	s.stopping.Do(func() { s.shutdown(ctx) })
	return nil
}

// accountant keeps the accounts of all sessions.
type accountant struct {
	id        component.ID
	cfg       *Config
	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder
	metrics   consumer.Metrics   // nil if not part of a metrics pipeline
	logs      consumer.Logs      // nil if not part of a logs pipeline
	profiles  xconsumer.Profiles // nil if not part of a profiles pipeline
	accounts  contention.Config
	stacks    profile.Config
	writer    threadpdata.MetricWriter
	sessions  *sessions.Member // once started

	starting, stopping sync.Once
	stop               context.CancelFunc
	wg                 sync.WaitGroup
}

// output is data of one signal of a session, and the function that sends it.
type output func(ctx context.Context)

func newAccountant(cfg *Config, set connector.Settings) (*accountant, error) {
	tb, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	bounds, maxSize := cfg.Histogram.buckets()
	a := &accountant{
		id: set.ID, cfg: cfg, logger: logs.Guarded(set.Logger), telemetry: tb,
		accounts: contention.Config{
			Buckets: bounds, MaxSize: maxSize, CallSites: cfg.CallSites, ThreadPools: cfg.ThreadPools, StuckAfter: cfg.StuckAfter,
			MaxSeries: cfg.MaxSeries, Expiry: cfg.SeriesExpiration, Budget: &contention.Budget{Limit: int64(cfg.MaxSeriesTotal)},
		},
		writer: threadpdata.MetricWriter{Delta: cfg.Temporality == Delta, Bounds: bounds},
	}
	a.stacks = cfg.Profiles.config(a.accounts.Budget)
	if cfg.Exemplars.Enabled {
		a.accounts.Exemplars = cfg.Exemplars.MaxPerDataPoint
	}
	err = tb.RegisterConnectorContentionSeriesCallback(func(_ context.Context, o metric.Int64Observer) error {
		o.Observe(a.accounts.Budget.Used())
		return nil
	})
	return a, err
}

func (a *accountant) start(ctx context.Context, host component.Host) error {
	owner := threadengineextension.Owner{Kind: component.KindConnector, ID: a.id}
	analyzer, err := threadengineextension.Analyzer(ctx, host, owner, &a.cfg.Sessions, a.logger)
	if err != nil {
		return err
	}
	tb := a.telemetry
	a.sessions = analyzer.Join(sessions.MemberSettings{
		Metrics: sessions.Metrics{
			Events: tb.ConnectorContentionEvents, EventsLost: tb.ConnectorContentionEventsLost, Anomalies: tb.ConnectorContentionAnomalies,
			Reordered: tb.ConnectorContentionBatchesReordered, Unknown: tb.ConnectorContentionIntervalsUnknown,
			Sessions: tb.ConnectorContentionSessions, Failed: tb.ConnectorContentionSessionsFailed, Held: tb.ConnectorContentionHeld,
		},
		Requests: requestSums(a.metrics != nil),
		Follow:   a.follow,
	})
	running, cancel := context.WithCancel(context.Background())
	a.stop = cancel
	if a.metrics != nil {
		a.wg.Go(func() { a.flushes(running, a.cfg.FlushInterval, func(s *session) { s.flush(time.Now(), true) }) })
	}
	if a.profiles != nil {
		a.wg.Go(func() { a.flushes(running, a.cfg.Profiles.Interval, func(s *session) { s.flushProfiles(time.Now()) }) })
	}
	return nil
}

// requestSums returns what the engine reports of requests: only what they lost, if there are metrics.
func requestSums(wanted bool) *requests.Config {
	if !wanted {
		return nil
	}
	return new(requests.Config)
}

func (a *accountant) shutdown(ctx context.Context) {
	if a.stop != nil {
		a.stop()
	}
	a.wg.Wait()
	if a.sessions != nil {
		a.sessions.Shutdown(ctx)
	}
	a.telemetry.Shutdown()
}

// flushes flushes all sessions at each interval until ctx is done.
func (a *accountant) flushes(ctx context.Context, interval time.Duration, flush func(*session)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C: // its time may be long past if the next consumer is slow
			a.sessions.Each(ctx, func(f sessions.Follower) { flush(f.(*session)) })
		}
	}
}

func (a *accountant) sendMetrics(md pmetric.Metrics) output {
	return func(ctx context.Context) {
		a.telemetry.ConnectorContentionPoints.Add(ctx, int64(md.DataPointCount()))
		a.sent(ctx, "metrics", a.metrics.ConsumeMetrics(ctx, md))
	}
}

func (a *accountant) sendLogs(ld plog.Logs) output {
	return func(ctx context.Context) {
		a.telemetry.ConnectorContentionRecords.Add(ctx, int64(ld.LogRecordCount()))
		a.sent(ctx, "logs", a.logs.ConsumeLogs(ctx, ld))
	}
}

func (a *accountant) sendProfiles(pd pprofile.Profiles) output {
	return func(ctx context.Context) {
		a.telemetry.ConnectorContentionSamples.Add(ctx, int64(pd.SampleCount()))
		a.sent(ctx, "profiles", a.profiles.ConsumeProfiles(ctx, pd))
	}
}

func (a *accountant) sent(ctx context.Context, signal string, err error) {
	if err != nil {
		a.telemetry.ConnectorContentionRefused.Add(ctx, 1, metric.WithAttributes(attribute.String("signal", signal)))
		a.logger.Error("The next consumer rejected the data", zap.String("signal", signal), zap.String("remedy", refusal.Remedy(err)), zap.Error(err))
	}
}
