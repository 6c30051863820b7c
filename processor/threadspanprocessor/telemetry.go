// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/window"
)

func where(v string) metric.AddOption { return metric.WithAttributes(attribute.String("where", v)) }

func kindAttr(v string) metric.AddOption { return metric.WithAttributes(attribute.String("kind", v)) }

// count tells what a window is made of.
func (s *session) count(w *window.Window) {
	ctx, t := context.Background(), s.proc.telemetry
	t.ProcessorThreadSpanEvents.Add(ctx, int64(w.Events)) //nolint:gosec // a count
	if w.Lost > 0 {
		t.ProcessorThreadSpanEventsLost.Add(ctx, int64(w.Lost), where("agent")) //nolint:gosec // a count
	}
	if w.Missed > 0 {
		t.ProcessorThreadSpanEventsLost.Add(ctx, int64(w.Missed), where("missed")) //nolint:gosec // a count
	}
	s.totals.windows++
	s.totals.events += w.Events
	s.totals.lost += w.Lost
	s.totals.missed += w.Missed
}

// totals are of the whole session, for the line that is logged at its end.
type totals struct {
	windows, events, lost, missed uint64
}

// oddity is how often something did not fit.
type oddity struct {
	kind  string
	count uint64
}

// numOddities is the number of kinds that the engine counts.
const numOddities = 19

// oddities are the engine's counters under the names that metrics and logs have for them.
func (s *session) oddities() [numOddities]oddity {
	c := s.engine.Counters()
	o, t, i, d := c.Ordering, c.Timeline, c.Interaction, c.Deadlock
	return [numOddities]oddity{
		{"duplicate", o.Duplicates},
		{"batch_lost", o.Batches},
		{"late", o.Late},
		{"forced", o.Forced},
		{"inconsistent", t.Inconsistent},
		{"after_thread_end", t.AfterEnd},
		{"thread_limit", t.Refused},
		{"handoff_unbound", i.HandoffsUnbound},
		{"notify_unbound", i.NotifiesUnbound},
		{"wake_up_unbound", i.WakeUpsUnbound},
		{"start_unbound", i.StartsUnbound},
		{"interrupt_unbound", i.InterruptsUnbound},
		{"lock_limit", i.LocksRefused},
		{"cause_limit", i.CausesRefused},
		{"symbol_limit", s.symbols.Refused()},
		{"window_limit", c.Refused},
		{"deadlock_search_cut", d.SearchesCut},
		{"deadlock_limit", d.Overflow},
		{"lock_order_limit", d.OrdersForgotten},
	}
}

// publish tells what the engine counted since it was last told.
func (s *session) publish() {
	now := s.oddities()
	for i, c := range now {
		s.proc.odd(context.Background(), c.kind, c.count-s.published[i].count)
	}
	s.published = now
}

// logEnd says in one line what came of a session.
func (s *session) logEnd(why window.Cut) {
	fields := []zap.Field{
		zap.Stringer("session", s.id), zap.String("cut", string(why)), zap.Uint64("windows", s.totals.windows),
		zap.Uint64("events", s.totals.events), zap.Uint64("lost", s.totals.lost), zap.Uint64("missed", s.totals.missed),
	}
	if name, ok := s.resource.Attributes().Get("service.name"); ok {
		fields = append(fields, zap.String("service", name.AsString()))
	}
	for _, o := range s.oddities() {
		if o.count > 0 {
			fields = append(fields, zap.Uint64(o.kind, o.count))
		}
	}
	s.proc.logger.Info("session ended", fields...)
}
