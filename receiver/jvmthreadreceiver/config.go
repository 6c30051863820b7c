// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"errors"

	"go.opentelemetry.io/collector/component"
)

// Config says where thread events come from.
type Config struct {
	Protocols Protocols `mapstructure:"protocols"`
}

// Protocols has a field for each way in.
type Protocols struct {
	Stream Stream `mapstructure:"stream"`
}

// Stream is the listener that agents connect to.
type Stream struct {
	// Endpoint is unix:///path, tcp://host:port or host:port.
	Endpoint string `mapstructure:"endpoint"`
	// MaxConnections bounds the number of agents served at one time.
	MaxConnections int `mapstructure:"max_connections"`
}

var _ component.Config = (*Config)(nil)

// Validate reports the first option that cannot work.
func (c *Config) Validate() error {
	if c.Protocols.Stream.MaxConnections < 1 {
		return errors.New("protocols::stream::max_connections must be at least 1")
	}
	return nil
}

func createDefaultConfig() component.Config {
	return &Config{Protocols: Protocols{Stream: Stream{
		Endpoint:       "unix:///tmp/weft.sock",
		MaxConnections: 64,
	}}}
}
