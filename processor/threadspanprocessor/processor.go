// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"context"
	"sync/atomic"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/extension/threadengineextension"
	"github.com/weft-otel/weft/internal/printable/logs"
	"github.com/weft-otel/weft/internal/refusal"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/processor/threadspanprocessor/internal/metadata"
)

// threadSpan removes carriers from the data and sends the traces of windows to the next consumer. Other spans pass through unchanged.
type threadSpan struct {
	id        component.ID
	cfg       *Config
	next      consumer.Traces
	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder
	sessions  *sessions.Member // once started
	rejecting atomic.Bool      // the next consumer has rejected what was repeated
	waiting   atomic.Bool      // for the disk of its queue
}

func newProcessor(cfg *Config, set processor.Settings, next consumer.Traces) (*threadSpan, error) {
	tb, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	return &threadSpan{id: set.ID, cfg: cfg, next: next, logger: logs.Guarded(set.Logger), telemetry: tb}, nil
}

// Capabilities says that data does not change, so that the collector need not copy it for each of several components.
func (*threadSpan) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (p *threadSpan) Start(ctx context.Context, host component.Host) error {
	owner := threadengineextension.Owner{Kind: component.KindProcessor, ID: p.id}
	analyzer, err := threadengineextension.Analyzer(ctx, host, owner, &p.cfg.Sessions, p.logger)
	if err != nil {
		return err
	}
	tb := p.telemetry
	p.sessions = analyzer.Join(sessions.MemberSettings{
		Metrics: sessions.Metrics{
			Events: tb.ProcessorThreadSpanEvents, EventsLost: tb.ProcessorThreadSpanEventsLost, Anomalies: tb.ProcessorThreadSpanAnomalies,
			Reordered: tb.ProcessorThreadSpanBatchesReordered, Unknown: tb.ProcessorThreadSpanIntervalsUnknown,
			Sessions: tb.ProcessorThreadSpanSessions, Failed: tb.ProcessorThreadSpanSessionsFailed, Held: tb.ProcessorThreadSpanHeld,
		},
		Requests: p.cfg.RequestSpans.config(),
		Follow:   p.follow,
	})
	return nil
}

// Shutdown ends all windows and sends them.
func (p *threadSpan) Shutdown(ctx context.Context) error {
	if p.sessions != nil {
		p.sessions.Shutdown(ctx)
	}
	p.telemetry.Shutdown()
	return nil
}

// ConsumeTraces takes the carriers in td, and sends the rest to the next consumer. Complete windows are sent by other goroutines: those that
// the next consumer rejects are counted and logged instead of returning an error, because the sender would repeat events that were consumed.
func (p *threadSpan) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	if err := p.sessions.Consume(ctx, td); err != nil {
		return err
	}
	rest := threadpdata.Others(td)
	if rest.ResourceSpans().Len() == 0 {
		return nil
	}
	return p.next.ConsumeTraces(ctx, rest)
}

// sendRequests sends spans for the traces of requests to the next consumer.
func (p *threadSpan) sendRequests(ctx context.Context, requests []ptrace.Traces) {
	for _, td := range requests {
		spans := int64(td.SpanCount()) // it may belong to the next consumer afterwards
		p.telemetry.ProcessorThreadSpanRequestSpans.Add(ctx, spans)
		if err := p.consume(ctx, td); err != nil {
			p.telemetry.ProcessorThreadSpanRequestSpansRefused.Add(ctx, spans)
			p.logger.Error("The next consumer rejected spans of requests, which are lost", zap.String("remedy", refusal.Remedy(err)), zap.Error(err))
		}
	}
}
