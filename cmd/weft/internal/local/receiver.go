// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package local answers: how do events reach this program without a collector? It runs the receiver of the collector for
// agents that connect to a listener, reads recordings, and serves the page on a port of this machine.
package local

import (
	"context"
	"net"

	"go.opentelemetry.io/collector/component"
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
	factory := jvmthreadreceiver.NewFactory()
	cfg := factory.CreateDefaultConfig().(*jvmthreadreceiver.Config)
	cfg.RemoteControl = registry != nil
	cfg.Protocols.Stream.Listener = listener
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

// Close stops receiving. Sessions do not end with it.
func (r *Receiver) Close(ctx context.Context) error { return r.receiver.Shutdown(ctx) }
