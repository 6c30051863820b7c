// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/metadata"
)

// outlet leads to the next component.
type outlet struct {
	next      consumer.Traces
	report    *receiverhelper.ObsReport
	telemetry *metadata.TelemetryBuilder
	log       *zap.Logger
}

// The pauses between tries double from the first to the longest.
const (
	firstRetry   = 50 * time.Millisecond
	longestRetry = 5 * time.Second
)

const format = "weft"

// deliver returns when the next component has taken the session's batch at hand, or has refused it for good. An error means that the
// context ended before: then the batch counts as not delivered.
func (o *outlet) deliver(ctx context.Context, s *session) error {
	events := int64(len(s.pending.events))
	for wait := firstRetry; ; wait = min(2*wait, longestRetry) {
		traces := s.traces() // anew for each try: those behind may change what they get
		spans := traces.SpanCount()
		operation := o.report.StartTracesOp(ctx)
		err := o.next.ConsumeTraces(operation, traces)
		o.report.EndTracesOp(operation, format, spans, err)
		switch {
		case err == nil:
			count(o.telemetry.ReceiverJvmThreadEvents, events)
			count(o.telemetry.ReceiverJvmThreadSeries, int64(s.pending.series))
			o.countLosses(s)
			return nil
		case consumererror.IsPermanent(err):
			o.log.Warn("The next component refused a batch for good; its events are lost", zap.Error(err),
				zap.Stringer("session", s.id), zap.Uint64("batch", s.pending.carrier.Batch), zap.Int64("events", events))
			count(o.telemetry.ReceiverJvmThreadEventsRefused, events)
			o.countLosses(s)
			return nil
		}
		if wait == firstRetry {
			o.log.Warn("The next component does not take a batch; will try again until it does", zap.Error(err), zap.Stringer("session", s.id))
		}
		if !pause(ctx, wait) {
			return ctx.Err()
		}
	}
}

func (o *outlet) countLosses(s *session) {
	if lost := s.pending.lost; lost > 0 {
		count(o.telemetry.ReceiverJvmThreadEventsLost, int64(lost))
	}
	if unknown := s.pending.unknown; unknown > 0 {
		count(o.telemetry.ReceiverJvmThreadEventsUnknown, int64(unknown))
	}
}

// count adds to a metric, also when everything is being shut down.
func count(metric interface {
	Add(ctx context.Context, n int64, options ...metric.AddOption)
}, n int64,
) {
	metric.Add(context.Background(), n)
}
