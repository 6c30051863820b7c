// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/weft-otel/weft/internal/interaction"
	"github.com/weft-otel/weft/internal/ordering"
	"github.com/weft-otel/weft/internal/timeline"
	"github.com/weft-otel/weft/internal/window"
)

func where(v string) metric.AddOption    { return metric.WithAttributes(attribute.String("where", v)) }
func kindAttr(v string) metric.AddOption { return metric.WithAttributes(attribute.String("kind", v)) }

// published is what was already told of an engine's counters.
type published struct {
	ordering    ordering.Counters
	timeline    timeline.Counters
	interaction interaction.Counters
	refused     uint64
}

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
}

// publish tells what the engine counted since it was last told.
func (s *session) publish() {
	o, t, i := s.engine.Counters()
	old := s.published
	s.published = published{ordering: o, timeline: t, interaction: i, refused: s.symbols.Refused()}
	if s.published == old {
		return
	}
	ctx := context.Background()
	for _, c := range []struct {
		kind     string
		now, old uint64
	}{
		{"duplicate", o.Duplicates, old.ordering.Duplicates},
		{"batch_lost", o.Batches, old.ordering.Batches},
		{"late", o.Late, old.ordering.Late},
		{"forced", o.Forced, old.ordering.Forced},
		{"inconsistent", t.Inconsistent, old.timeline.Inconsistent},
		{"after_thread_end", t.AfterEnd, old.timeline.AfterEnd},
		{"thread_limit", t.Refused, old.timeline.Refused},
		{"handoff_unbound", i.HandoffsUnbound, old.interaction.HandoffsUnbound},
		{"notify_unbound", i.NotifiesUnbound, old.interaction.NotifiesUnbound},
		{"wake_up_unbound", i.WakeUpsUnbound, old.interaction.WakeUpsUnbound},
		{"start_unbound", i.StartsUnbound, old.interaction.StartsUnbound},
		{"interrupt_unbound", i.InterruptsUnbound, old.interaction.InterruptsUnbound},
		{"lock_limit", i.LocksRefused, old.interaction.LocksRefused},
		{"symbol_limit", s.published.refused, old.refused},
	} {
		s.proc.odd(ctx, c.kind, c.now-c.old)
	}
}
