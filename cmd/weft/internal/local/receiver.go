// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package local answers: how do events reach this program without a collector? It runs the receiver of the collector for one purpose, agents
// that connect to a listener or recordings in files, and the page on a port of this machine.
package local

import (
	"context"
	"fmt"
	"net"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/receiver"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver"
)

// Receiver runs until it is closed.
type Receiver struct{ receiver receiver.Traces }

// NewRegistry returns where agents are found to be controlled, for Agents and a Page.
func NewRegistry(ctx context.Context) (agentcontrolextension.Registry, error) {
	factory := agentcontrolextension.NewFactory()
	control, err := factory.Create(ctx, extension.Settings{ID: agentcontrolextension.DefaultID(), TelemetrySettings: telemetry(zap.NewNop())}, factory.CreateDefaultConfig())
	if err != nil {
		return nil, err
	}
	return control.(agentcontrolextension.Registry), nil
}

// Agents receives from the agents that connect to a listener, and closes the listener with the Receiver. Registry has the agents that are
// connected; nil: they cannot be controlled.
func Agents(ctx context.Context, listener net.Listener, registry agentcontrolextension.Registry, next consumer.Traces, logger *zap.Logger) (*Receiver, error) {
	return open(ctx, func(cfg *jvmthreadreceiver.Config) error {
		cfg.RemoteControl = registry != nil
		cfg.Protocols.Stream.Listener = listener
		return nil
	}, registry, next, logger)
}

// Files reads recordings, each once, in the format that its content shows, or in the format with a name. MaxUnpacked bounds the bytes that
// are read of a compressed one.
func Files(ctx context.Context, paths []string, format string, maxUnpacked int64, next consumer.Traces, logger *zap.Logger) (*Receiver, error) {
	return open(ctx, func(cfg *jvmthreadreceiver.Config) error {
		patterns := make([]any, len(paths))
		for i, path := range paths {
			patterns[i] = literal(path)
		}
		return confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"file": map[string]any{
			"include": patterns, "format": format, "max_unpacked_size": maxUnpacked,
		}}}).Unmarshal(cfg)
	}, nil, next, logger)
}

func open(ctx context.Context, change func(*jvmthreadreceiver.Config) error, registry agentcontrolextension.Registry, next consumer.Traces, logger *zap.Logger) (*Receiver, error) {
	factory := jvmthreadreceiver.NewFactory()
	cfg := factory.CreateDefaultConfig().(*jvmthreadreceiver.Config)
	if err := change(cfg); err != nil {
		return nil, fmt.Errorf("receiver: %w", err)
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := new(Receiver)
	var err error
	if r.receiver, err = factory.CreateTraces(ctx, receiver.Settings{ID: component.NewID(factory.Type()), TelemetrySettings: telemetry(logger)}, cfg, next); err != nil {
		return nil, err
	}
	extensions := host{}
	if control, ok := registry.(component.Component); ok {
		extensions[agentcontrolextension.DefaultID()] = control
	}
	if err := r.receiver.Start(ctx, extensions); err != nil {
		return nil, err
	}
	return r, nil
}

// Finished is closed once all recordings have been read.
func (r *Receiver) Finished() <-chan struct{} {
	return r.receiver.(interface{ Finished() <-chan struct{} }).Finished()
}

// Close stops receiving. Sessions do not end with it.
func (r *Receiver) Close(ctx context.Context) error { return r.receiver.Shutdown(ctx) }
