// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package agentcontrolextension

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/weft-otel/weft/extension/agentcontrolextension/internal/metadata"
)

// NewFactory returns the factory of the agent_control extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(metadata.Type, createDefaultConfig, create, metadata.ExtensionStability)
}

func create(_ context.Context, _ extension.Settings, cfg component.Config) (extension.Extension, error) {
	return newRegistry(cfg.(*Config).MaxAgents), nil
}

// DefaultID is the ID of the extension when it is configured without a name.
func DefaultID() component.ID { return component.NewID(metadata.Type) }
