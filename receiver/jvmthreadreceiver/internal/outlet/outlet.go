// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package outlet answers: how do events reach the next component? Stream connections and recordings both put the batches of a session
// into carriers and send them, with retries.
package outlet

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/origin"
	"github.com/weft-otel/weft/internal/printable/logs"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/metadata"
)

// Outlet sends batches to the next component and records the receiver's metrics. It is safe for concurrent use.
type Outlet struct {
	Next      consumer.Traces
	Report    *receiverhelper.ObsReport
	Telemetry *metadata.TelemetryBuilder
	Log       *zap.Logger
	Keys      *origin.Keys // that sign carriers; nil: none
}

// New returns the outlet of a receiver to the next component.
func New(set receiver.Settings, transport string, next consumer.Traces) (*Outlet, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	report, err := receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{
		ReceiverID: set.ID, Transport: transport, LongLivedCtx: true, ReceiverCreateSettings: set,
	})
	return &Outlet{Next: next, Report: report, Telemetry: telemetry, Log: logs.Guarded(set.Logger)}, err
}

// The delay between retries doubles from the first to the longest, by which a batch is later than the next component could take it.
const (
	firstRetry   = 50 * time.Millisecond
	longestRetry = 500 * time.Millisecond
)

const format = "weft"

// Deliver sends the current batch of a session until the next component accepts it or rejects it permanently, and commits it then. It
// returns an error only if ctx ends first; the batch is then not committed.
func (o *Outlet) Deliver(ctx context.Context, s *Session) error {
	events := int64(len(s.Batch.Events))
	for wait := firstRetry; ; wait = min(2*wait, longestRetry) {
		traces := s.Traces(o.Keys) // built again for each try: consumers may modify it
		spans := traces.SpanCount()
		operation := o.Report.StartTracesOp(ctx)
		err := o.consume(operation, traces)
		o.Report.EndTracesOp(operation, format, spans, err)
		if err == nil || consumererror.IsPermanent(err) {
			o.record(s, events, err)
			s.commit()
			return nil
		}
		if wait == firstRetry {
			o.Log.Warn("The next component does not accept a batch; retrying until it does", zap.Error(err), zap.Stringer("session", s.ID))
		}
		if !Pause(ctx, wait) {
			return ctx.Err()
		}
	}
}

// consume sends traces. A component in this process that panics has rejected them: it would do so again.
func (o *Outlet) consume(ctx context.Context, traces ptrace.Traces) (err error) {
	if p := failure.Contain(func() { err = o.Next.ConsumeTraces(threadpdata.Direct(ctx), traces) }); p != nil {
		o.Log.Error("A component that consumes batches has a defect; please report it with this line", zap.String("panic", p.Value), zap.Strings("stack", p.Stack))
		return consumererror.NewPermanent(p)
	}
	return err
}

func (o *Outlet) record(s *Session, events int64, rejected error) {
	b := &s.Batch
	if rejected != nil {
		o.Log.Warn("The next component permanently rejected a batch; its events are lost", zap.Error(rejected),
			zap.Stringer("session", s.ID), zap.Uint64("batch", b.carrier.Batch), zap.Int64("events", events))
		Count(o.Telemetry.ReceiverJvmThreadEventsRefused, events)
	} else {
		Count(o.Telemetry.ReceiverJvmThreadEvents, events)
		if b.Aggregate != nil {
			Count(o.Telemetry.ReceiverJvmThreadSeries, int64(len(b.Aggregate.Series)))
		}
	}
	if b.lost > 0 {
		Count(o.Telemetry.ReceiverJvmThreadEventsLost, int64(b.lost))
	}
	if b.unowned > 0 {
		Count(o.Telemetry.ReceiverJvmThreadOwnersUnknown, int64(b.unowned))
	}
	if b.Unknown > 0 {
		Count(o.Telemetry.ReceiverJvmThreadEventsUnknown, int64(b.Unknown))
	}
	if b.Undefined > 0 {
		Count(o.Telemetry.ReceiverJvmThreadEventsUndefined, int64(b.Undefined))
	}
}

// Count adds to a metric. It works during shutdown too, when the caller's context has ended.
func Count(metric interface {
	Add(ctx context.Context, n int64, options ...metric.AddOption)
}, n int64,
) {
	metric.Add(context.Background(), n)
}

// Pause waits for d and reports false if ctx ends first.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
