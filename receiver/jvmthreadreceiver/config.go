// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/confmap"

	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/internal/origin"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/file"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/stream"
)

// Config configures where thread events come from.
type Config struct {
	Protocols ProtocolsConfig `mapstructure:"protocols"`
	// AgentOptions are sent to each agent that connects. Keys and values are those of the agent.
	AgentOptions map[string]string `mapstructure:"agent_options"`
	// RemoteControl lets other components of this collector control agents.
	RemoteControl bool `mapstructure:"remote_control"`
	// AgentControl is the agent_control extension that RemoteControl requires.
	AgentControl component.ID `mapstructure:"agent_control"`
	// Carriers are the keys, the first of which signs what is sent to other collectors. None: it is not signed.
	Carriers origin.Config `mapstructure:"carriers"`

	filesOnly bool

	_ struct{} // prevents unkeyed literals
}

// ProtocolsConfig has a field for each source of events.
type ProtocolsConfig struct {
	Stream StreamConfig `mapstructure:"stream"`
	// File reads recordings. Without it none are read.
	File configoptional.Optional[FileConfig] `mapstructure:"file"`

	_ struct{}
}

// StreamConfig configures the listener that agents connect to.
type StreamConfig = stream.Config

// FileConfig configures which recordings are read, and how.
type FileConfig = file.Config

var _ confmap.Unmarshaler = (*Config)(nil)

func createDefaultConfig() component.Config {
	return &Config{
		Protocols:    ProtocolsConfig{Stream: stream.DefaultConfig(), File: configoptional.Default(file.DefaultConfig())},
		AgentControl: agentcontrolextension.DefaultID(),
	}
}

// Unmarshal disables the stream if only files are configured.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	if err := conf.Unmarshal(c); err != nil {
		return err
	}
	c.filesOnly = conf.IsSet("protocols::file") && !conf.IsSet("protocols::stream")
	return nil
}

// Validate reports every invalid option and the remedy.
func (c *Config) Validate() error {
	err := c.Protocols.Stream.Check()
	if c.Protocols.File.HasValue() {
		err = errors.Join(err, c.Protocols.File.Get().Check())
	}
	return errors.Join(err, c.validateAgentOptions())
}

// maxAgentOptions limits the bytes of agent_options, far below the size of a control frame.
const maxAgentOptions = 16 << 10

// validateAgentOptions does not check the keys, since agents may be newer than this collector.
func (c *Config) validateAgentOptions() error {
	size := 0
	for key, value := range c.AgentOptions {
		if key == "" || value == "" {
			return fmt.Errorf("agent_options: %q: %q lacks a key or a value; set both, such as depth: 8", key, value)
		}
		size += len(key) + len(value)
	}
	if size > maxAgentOptions {
		return fmt.Errorf("agent_options: keys and values take %d bytes; use at most %d", size, maxAgentOptions)
	}
	return nil
}
