// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package historyfuzz

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/connector/connectortest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/weft-otel/weft/connector/contentionconnector"
	"github.com/weft-otel/weft/exporter/threadlogexporter"
	"github.com/weft-otel/weft/exporter/threadviewexporter"
	"github.com/weft-otel/weft/extension/threadengineextension"
	"github.com/weft-otel/weft/processor/threadspanprocessor"
)

// host has the extensions of a collector.
type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

// ownEngines reads a history with all components, each with an engine of its own.
func ownEngines(t *testing.T, path string) {
	t.Helper()
	assemble(t, false, func(next consumer.Traces) { receive(t, path, next) })
}

// sharedEngine reads a history with all components and one engine.
func sharedEngine(t *testing.T, path string) {
	t.Helper()
	assemble(t, true, func(next consumer.Traces) { receive(t, path, next) })
}

// assemble starts all components that take carriers, passes them on, and stops the components.
func assemble(t *testing.T, shared bool, receive func(next consumer.Traces)) {
	t.Helper()
	extensions, settings := host{}, map[string]any{}
	if shared {
		factory := threadengineextension.NewFactory()
		engine, err := factory.Create(t.Context(), extensiontest.NewNopSettings(factory.Type()), factory.CreateDefaultConfig())
		require.NoError(t, err)
		extensions[component.NewID(factory.Type())] = engine
		settings["engine"] = factory.Type().String()
		require.NoError(t, engine.Start(t.Context(), extensions))
		defer func() { require.NoError(t, engine.Shutdown(context.Background())) }()
	}
	spans := new(consumertest.TracesSink)
	all := components(t, settings, spans)
	next, err := consumer.NewTraces(func(ctx context.Context, td ptrace.Traces) error {
		var errs []error
		for _, c := range all {
			carriers := ptrace.NewTraces()
			td.CopyTo(carriers)
			errs = append(errs, c.ConsumeTraces(ctx, carriers))
		}
		return errors.Join(errs...)
	})
	require.NoError(t, err)
	for _, c := range all {
		require.NoError(t, c.Start(t.Context(), extensions))
	}
	receive(next)
	for _, c := range all {
		require.NoError(t, c.Shutdown(context.Background()))
	}
	checkSpans(t, spans.AllTraces())
}

// consuming is a component that takes carriers.
type consuming interface {
	component.Component
	consumer.Traces
}

// configure applies settings to a configuration.
func configure(t *testing.T, cfg component.Config, settings map[string]any) component.Config {
	t.Helper()
	require.NoError(t, confmap.NewFromStringMap(settings).Unmarshal(cfg))
	return cfg
}

// components returns all components that take carriers, with the defaults of all other options.
func components(t *testing.T, settings map[string]any, spans consumer.Traces) []consuming {
	t.Helper()
	ctx := t.Context()
	processors := threadspanprocessor.NewFactory()
	processor, err := processors.CreateTraces(ctx, processortest.NewNopSettings(processors.Type()), configure(t, processors.CreateDefaultConfig(), settings), spans)
	require.NoError(t, err)
	connectors := contentionconnector.NewFactory()
	cfg := configure(t, connectors.CreateDefaultConfig(), settings)
	metrics, err := connectors.CreateTracesToMetrics(ctx, connectortest.NewNopSettings(connectors.Type()), cfg, consumertest.NewNop())
	require.NoError(t, err)
	logs, err := connectors.CreateTracesToLogs(ctx, connectortest.NewNopSettings(connectors.Type()), cfg, consumertest.NewNop())
	require.NoError(t, err)
	profiles, err := connectors.CreateTracesToProfiles(ctx, connectortest.NewNopSettings(connectors.Type()), cfg, consumertest.NewNop())
	require.NoError(t, err)
	views := threadviewexporter.NewFactory()
	pageSettings := map[string]any{"endpoint": "localhost:0"}
	maps.Copy(pageSettings, settings)
	view, err := views.CreateTraces(ctx, exportertest.NewNopSettings(views.Type()), configure(t, views.CreateDefaultConfig(), pageSettings))
	require.NoError(t, err)
	all := []consuming{processor, metrics, logs, profiles, view}
	logsFactory := threadlogexporter.NewFactory()
	for _, format := range []string{"orca", "native"} {
		log, err := logsFactory.CreateTraces(ctx, exportertest.NewNopSettings(logsFactory.Type()), configure(t, logsFactory.CreateDefaultConfig(), map[string]any{
			"directory": filepath.Join(t.TempDir(), format), "format": format,
		}))
		require.NoError(t, err)
		all = append(all, log)
	}
	return all
}

// spanID identifies a span.
type spanID struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

// checkSpans checks that each span has an ID of its own, and is within its parent; those for the application have parents elsewhere.
func checkSpans(t *testing.T, all []ptrace.Traces) {
	t.Helper()
	spans, roots := make(map[spanID]ptrace.Span), make(map[pcommon.TraceID]bool)
	for _, td := range all {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, s := range ss.Spans().All() {
					id := spanID{s.TraceID(), s.SpanID()}
					if _, twice := spans[id]; twice {
						t.Errorf("span %s %s occurs twice", s.Name(), s.SpanID())
					}
					spans[id] = s
					roots[s.TraceID()] = roots[s.TraceID()] || s.ParentSpanID().IsEmpty()
				}
			}
		}
	}
	for _, s := range spans {
		parent, ok := spans[spanID{s.TraceID(), s.ParentSpanID()}]
		switch {
		case s.StartTimestamp() > s.EndTimestamp():
			t.Errorf("span %s from %d to %d", s.Name(), s.StartTimestamp(), s.EndTimestamp())
		case !roots[s.TraceID()] || s.ParentSpanID().IsEmpty():
		case !ok:
			t.Errorf("span %s has no parent", s.Name())
		case s.StartTimestamp() < parent.StartTimestamp() || s.EndTimestamp() > parent.EndTimestamp():
			t.Errorf("span %s from %d to %d is outside of %s from %d to %d", s.Name(), s.StartTimestamp(), s.EndTimestamp(),
				parent.Name(), parent.StartTimestamp(), parent.EndTimestamp())
		}
	}
}
