// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool -modfile=../../tools/go.mod mdatagen metadata.yaml

// Package agentcontrolextension answers: which agents are connected to this collector, and how does another component control one?
// The jvm_thread receiver registers each agent for as long as it is connected. Other components, such as the thread_view exporter,
// look up the agent of a session:
//
//	registry, err := agentcontrolextension.Find(host, cfg.AgentControl)
//	agent, ok := registry.Lookup(session)
//	status, err := agent.Control(ctx, map[string]string{"pause": "on"})
//
// Keys and values are the agent's options (agent/README.md), such as depth, pause (on, off) and snapshot (now).
package agentcontrolextension

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/weft-otel/weft/extension/agentcontrolextension/internal/metadata"
)

// Config configures the registry of connected agents.
type Config struct {
	// MaxAgents is the maximum number of agents registered at the same time.
	MaxAgents int `mapstructure:"max_agents"`

	_ struct{} // prevents unkeyed literals
}

func createDefaultConfig() component.Config { return &Config{MaxAgents: 1024} }

// Validate checks the limit.
func (c *Config) Validate() error {
	if c.MaxAgents < 1 {
		return fmt.Errorf("max_agents: is %d; use 1 or more", c.MaxAgents)
	}
	return nil
}

// NewFactory returns the factory of the agent_control extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(metadata.Type, createDefaultConfig, create, metadata.ExtensionStability)
}

func create(_ context.Context, _ extension.Settings, cfg component.Config) (extension.Extension, error) {
	return newRegistry(cfg.(*Config).MaxAgents), nil
}

// DefaultID is the ID of the extension when it is configured without a name.
func DefaultID() component.ID { return component.NewID(metadata.Type) }
