// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package agentcontrolextension

import (
	"fmt"

	"go.opentelemetry.io/collector/component"
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
