// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/metric/noop"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/extension/threadengineextension"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadtest"
)

// validator is a component that shares the engine with thread_span, and checks each window.
type validator struct {
	world *world
	name  string
}

// Window implements sessions.Follower.
func (v *validator) Window(w *window.Window) {
	for _, err := range threadtest.Validate(w) {
		v.world.fail("%s makes a window from %d that is wrong: %v", v.name, w.Start, err)
	}
}

// Advanced implements sessions.Follower.
func (*validator) Advanced() {}

// Closed implements sessions.Follower.
func (*validator) Closed(window.Cut) {}

// Take implements sessions.Follower.
func (*validator) Take() sessions.Delivery { return nil }

// validate adds a validator to an engine. As in a pipeline with two components, both get all carriers.
func (l *life) validate(engine component.ID, h component.Host, next consumer.Traces) (both consumer.ConsumeTracesFunc) {
	options := threadengineextension.Options{Engine: engine}
	owner := threadengineextension.Owner{Kind: component.KindProcessor, ID: component.MustNewID("validator")}
	analyzer, err := threadengineextension.Analyzer(context.Background(), h, owner, &options, zap.NewNop())
	if err != nil {
		panic(err)
	}
	member := analyzer.Join(sessions.MemberSettings{
		Metrics: sessions.Metrics{
			Events: noop.Int64Counter{}, EventsLost: noop.Int64Counter{}, Anomalies: noop.Int64Counter{}, Reordered: noop.Int64Counter{},
			Unknown: noop.Int64Counter{}, Sessions: noop.Int64UpDownCounter{}, Held: noop.Int64UpDownCounter{},
		},
		Follow: func(*sessions.Session) sessions.Follower { return &validator{l.place.world, l.place.name} },
	})
	return func(ctx context.Context, td ptrace.Traces) error {
		return errors.Join(next.ConsumeTraces(ctx, td), member.Consume(ctx, td))
	}
}
