// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Metrics are the instruments in which a Set tells of itself. Each component has its own, of the same meaning; all are to be set.
type Metrics struct {
	Events     metric.Int64Counter       // thread events applied
	EventsLost metric.Int64Counter       // by where: agent, missed or refused
	Anomalies  metric.Int64Counter       // what did not fit and was mended, by kind
	Reordered  metric.Int64Counter       // batches that came before an earlier one
	Unknown    metric.Int64Counter       // intervals of which nobody knows what the thread did
	Sessions   metric.Int64UpDownCounter // that are followed
	Held       metric.Int64UpDownCounter // bytes held for them, estimated
}

func where(v string) metric.AddOption { return metric.WithAttributes(attribute.String("where", v)) }

var (
	whereRefused = where("refused")
	whereAgent   = where("agent")
	whereMissed  = where("missed")
)

func (m *Metrics) odd(ctx context.Context, kind string, n uint64) {
	if n > 0 {
		m.Anomalies.Add(ctx, int64(n), metric.WithAttributes(attribute.String("kind", kind)))
	}
}

// told is what was told of a session so far.
type told struct {
	anomalies                     [numAnomalies]anomaly
	reordered                     uint64
	held                          int64
	windows, events, lost, missed uint64
}

// count tells what a window is made of.
func (e *entry[T]) count(w *window.Window) {
	ctx, m := context.Background(), &e.set.Metrics
	add := func(c metric.Int64Counter, n uint64, options ...metric.AddOption) {
		if n > 0 {
			c.Add(ctx, int64(n), options...)
		}
	}
	add(m.Events, w.Events)
	add(m.EventsLost, w.Lost, whereAgent)
	add(m.EventsLost, w.Missed, whereMissed)
	add(m.Unknown, w.Totals[jvmthread.StateUnknown].Count)
	e.told.windows++
	e.told.events += w.Events
	e.told.lost += w.Lost
	e.told.missed += w.Missed
}

// anomaly is how often something did not fit.
type anomaly struct {
	kind  string
	count uint64
}

// numAnomalies is the number of kinds that the engine counts.
const numAnomalies = 19

// anomalies are the engine's counters under the names that metrics and logs have for them.
func (s *Session) anomalies() [numAnomalies]anomaly {
	c := s.Engine.Counters()
	o, t, i, d := c.Ordering, c.Timeline, c.Interaction, c.Deadlock
	return [numAnomalies]anomaly{
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
		{"symbol_limit", s.Symbols.Refused()},
		{"window_limit", c.Refused},
		{"deadlock_search_cut", d.SearchesCut},
		{"deadlock_limit", d.Overflow},
		{"lock_order_limit", d.OrdersForgotten},
	}
}

// publish tells what the engine counted since it was last told, and what it holds.
func (e *entry[T]) publish() {
	ctx, m := context.Background(), &e.set.Metrics
	now := e.anomalies()
	for i, c := range now {
		m.odd(ctx, c.kind, c.count-e.told.anomalies[i].count)
	}
	e.told.anomalies = now
	if n := e.Engine.Counters().Ordering.Reordered; n > e.told.reordered {
		m.Reordered.Add(ctx, int64(n-e.told.reordered))
		e.told.reordered = n
	}
	held := int64(e.Engine.Held() + e.Symbols.Held())
	m.Held.Add(ctx, held-e.told.held)
	e.told.held = held
}

// release tells that nothing is held any more.
func (e *entry[T]) release() {
	e.set.Metrics.Held.Add(context.Background(), -e.told.held)
	e.told.held = 0
}

// logEnd says in one line what came of a session.
func (e *entry[T]) logEnd(why window.Cut) {
	fields := []zap.Field{
		zap.Stringer("session", e.ID), zap.String("cut", string(why)), zap.Uint64("windows", e.told.windows),
		zap.Uint64("events", e.told.events), zap.Uint64("lost", e.told.lost), zap.Uint64("missed", e.told.missed),
	}
	if name, ok := e.Resource.Attributes().Get("service.name"); ok {
		fields = append(fields, zap.String("service", name.AsString()))
	}
	for _, o := range e.anomalies() {
		if o.count > 0 {
			fields = append(fields, zap.Uint64(o.kind, o.count))
		}
	}
	e.set.Logger.Info("session ended", fields...)
}
