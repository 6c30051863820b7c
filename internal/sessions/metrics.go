// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	noopmetric "go.opentelemetry.io/otel/metric/noop"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// Metrics are the instruments of a component. Each component has its own, with the same meaning. An Analyzer needs all of them but Failed, a Set
// only EventsLost and Sessions.
type Metrics struct {
	Events     metric.Int64Counter       // thread events applied
	EventsLost metric.Int64Counter       // by where: agent, missed, refused, shed or failed
	Anomalies  metric.Int64Counter       // inconsistencies that were repaired, by kind
	Reordered  metric.Int64Counter       // batches that arrived before an earlier one
	Unknown    metric.Int64Counter       // intervals in which the state of the thread is unknown
	Sessions   metric.Int64UpDownCounter // followed now
	Failed     metric.Int64Counter       // sessions that ended because of a defect in Weft
	Held       metric.Int64UpDownCounter // bytes held for them, estimated
}

// Uncounted returns metrics that are not reported.
func Uncounted() Metrics {
	var counter noopmetric.Int64Counter
	var gauge noopmetric.Int64UpDownCounter
	return Metrics{
		Events: counter, EventsLost: counter, Anomalies: counter, Reordered: counter, Unknown: counter, Failed: counter, Sessions: gauge, Held: gauge,
	}
}

// instruments yields the metrics of each component.
func (s *Set) instruments(yield func(*Metrics) bool) {
	all := *s.metrics.Load()
	for i := range all {
		if !yield(&all[i]) {
			return
		}
	}
}

func where(v string) metric.AddOption { return metric.WithAttributes(attribute.String("where", v)) }

var (
	whereRefused = where("refused")
	whereAgent   = where("agent")
	whereMissed  = where("missed")
	whereShed    = where("shed")
	whereFailed  = where("failed")
)

func (m *Metrics) anomaly(ctx context.Context, kind string, n uint64) {
	if n > 0 && m.Anomalies != nil {
		m.Anomalies.Add(ctx, int64(n), metric.WithAttributes(attribute.String("kind", kind)))
	}
}

// reported is what the metrics already contain of a session.
type reported struct {
	anomalies                     [numAnomalies]anomaly
	reordered                     uint64
	held                          int64
	windows, events, lost, missed uint64
}

func add(c metric.Int64Counter, n uint64, options ...metric.AddOption) {
	if n > 0 {
		c.Add(context.Background(), int64(n), options...)
	}
}

// count adds a window that a follower has to its metrics.
func (f *following) count(w *window.Window) {
	m := &f.member.Metrics
	add(m.Events, w.Events)
	add(m.EventsLost, w.Lost, whereAgent)
	add(m.EventsLost, w.Missed-w.Shed, whereMissed)
	add(m.Unknown, w.Totals[jvmthread.StateUnknown].Count)
	f.events += w.Events
}

// count adds a window that all followers have to the totals of the session.
func (v *view) count(w *window.Window) {
	v.reported.windows++
	v.reported.events += w.Events
	v.reported.lost += w.Lost
	v.reported.missed += w.Missed
}

// anomaly is how often an inconsistency of one kind was repaired.
type anomaly struct {
	kind  string
	count uint64
}

// numAnomalies is the number of kinds that the engine counts.
const numAnomalies = 19

// anomalies returns the engine's counters under their names in metrics and logs.
func (v *view) anomalies() [numAnomalies]anomaly {
	c, o := v.Engine.Counters(), v.analysis.Counters()
	t, i, d := c.Timeline, c.Interaction, c.Deadlock
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
		{"symbol_limit", v.Symbols.Refused()},
		{"window_limit", c.Refused},
		{"deadlock_search_cut", d.SearchesCut},
		{"deadlock_limit", d.Overflow},
		{"lock_order_limit", d.OrdersForgotten},
	}
}

// publish adds to the metrics what was counted since the last call, and how many bytes are held now. The first member of a view reports its
// bytes, and that of the first view also those that views share.
func (v *view) publish(first bool) {
	ctx, now := context.Background(), v.anomalies()
	reordered := v.analysis.Counters().Reordered
	for _, f := range v.followers {
		m := &f.member.Metrics
		for i, c := range now {
			m.anomaly(ctx, c.kind, c.count-v.reported.anomalies[i].count)
		}
		if n := reordered - v.reported.reordered; n > 0 {
			m.Reordered.Add(ctx, int64(n))
		}
	}
	v.reported.anomalies, v.reported.reordered = now, reordered
	held := v.held(first)
	v.followers[0].member.Metrics.Held.Add(ctx, held-v.reported.held)
	v.reported.held = held
}

func (v *view) held(first bool) int64 {
	if v.closed {
		return 0
	}
	held := v.Engine.Held()
	for _, f := range v.followers {
		if h, ok := f.Follower.(Holder); ok {
			held += h.Held()
		}
	}
	if first {
		held += v.analysis.Bytes() + v.Symbols.Held()
	}
	return int64(held)
}

// logEnd logs the totals of a session.
func (v *view) logEnd(why window.Cut) {
	fields := []zap.Field{
		zap.Stringer("session", v.ID), zap.String("cut", string(why)), zap.Uint64("windows", v.reported.windows),
		zap.Uint64("events", v.reported.events), zap.Uint64("lost", v.reported.lost), zap.Uint64("missed", v.reported.missed),
	}
	if unseen := v.analysis.Counters().Unseen; unseen > 0 {
		fields = append(fields, zap.Uint64("unseen", unseen)) // another collector had them, or an earlier life of this one
	}
	if name, ok := v.Resource.Attributes().Get("service.name"); ok {
		fields = append(fields, zap.String("service", name.AsString()))
	}
	for _, o := range v.anomalies() {
		if o.count > 0 {
			fields = append(fields, zap.Uint64(o.kind, o.count))
		}
	}
	v.analysis.analyzer.logger.Info("Session ended", fields...)
}
