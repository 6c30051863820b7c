// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package contentionconnector

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/xconnector"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/xconsumer"

	"github.com/weft-otel/weft/connector/contentionconnector/internal/metadata"
)

// NewFactory returns the factory of the contention connector.
func NewFactory() xconnector.Factory {
	f := &factory{shared: make(map[*Config]*accountant)}
	return xconnector.NewFactory(metadata.Type, createDefaultConfig,
		xconnector.WithTracesToMetrics(f.tracesToMetrics, metadata.TracesToMetricsStability),
		xconnector.WithTracesToLogs(f.tracesToLogs, metadata.TracesToLogsStability),
		xconnector.WithTracesToProfiles(f.tracesToProfiles, profilesStability))
}

// profilesStability is not in metadata.yaml: the tests that mdatagen 0.158 generates for it do not compile.
const profilesStability = component.StabilityLevelDevelopment

// factory shares an accountant between the pairs of pipelines of a connector: the collector creates a component for each pair and sends the
// same data to all.
type factory struct {
	mu     sync.Mutex
	shared map[*Config]*accountant
}

func (f *factory) tracesToMetrics(_ context.Context, set connector.Settings, cfg component.Config, next consumer.Metrics) (connector.Traces, error) {
	return f.side(cfg.(*Config), set, func(a *accountant) { a.metrics = next })
}

func (f *factory) tracesToLogs(_ context.Context, set connector.Settings, cfg component.Config, next consumer.Logs) (connector.Traces, error) {
	return f.side(cfg.(*Config), set, func(a *accountant) { a.logs = next })
}

func (f *factory) tracesToProfiles(_ context.Context, set connector.Settings, cfg component.Config, next xconsumer.Profiles) (connector.Traces, error) {
	return f.side(cfg.(*Config), set, func(a *accountant) { a.profiles = next })
}

func (f *factory) side(cfg *Config, set connector.Settings, attach func(*accountant)) (connector.Traces, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := f.shared[cfg]
	first := a == nil
	if first {
		var err error
		if a, err = newAccountant(cfg, set); err != nil {
			return nil, err
		}
		f.shared[cfg] = a
	}
	attach(a)
	return &side{accountant: a, feeds: first, forget: func() { f.forget(cfg, a) }}, nil
}

func (f *factory) forget(cfg *Config, a *accountant) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shared[cfg] == a {
		delete(f.shared, cfg)
	}
}
