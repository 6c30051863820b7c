// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"

	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/internal/wire"
)

// Config says where thread events come from.
type Config struct {
	Protocols Protocols `mapstructure:"protocols"`
	// AgentOptions are sent to each agent that connects. Keys and values are the agent's own options.
	AgentOptions map[string]string `mapstructure:"agent_options"`
	// RemoteControl lets other components of this collector control agents.
	RemoteControl bool `mapstructure:"remote_control"`
	// AgentControl is the agent_control extension through which RemoteControl works.
	AgentControl component.ID `mapstructure:"agent_control"`

	noStream bool // there are files only
}

// Protocols has a field for each way in.
type Protocols struct {
	Stream Stream `mapstructure:"stream"`
	// File reads recordings. Without it none are read.
	File configoptional.Optional[File] `mapstructure:"file"`
}

// Stream is the listener that agents connect to.
type Stream struct {
	// Endpoint is unix:///path, tcp://host:port or host:port.
	Endpoint string `mapstructure:"endpoint"`
	// SocketMode is the mode of a Unix socket, octal: whoever may write to it may connect.
	SocketMode string `mapstructure:"socket_mode"`
	// TLS is for TCP only.
	TLS configoptional.Optional[configtls.ServerConfig] `mapstructure:"tls"`
	// MaxConnections bounds the number of agents served at one time.
	MaxConnections int `mapstructure:"max_connections"`
	// MaxSessions bounds the number of JVMs known at one time, those included that may come back.
	MaxSessions int `mapstructure:"max_sessions"`
	// MaxFrameSize bounds the bytes of a frame's payload.
	MaxFrameSize int `mapstructure:"max_frame_size"`
	// HelloTimeout bounds the time from the connection to the end of the hello.
	HelloTimeout time.Duration `mapstructure:"hello_timeout"`
	// SessionLinger is how long a session whose connection broke may come back before it counts as lost.
	SessionLinger time.Duration `mapstructure:"session_linger"`
}

var _ component.Config = (*Config)(nil)

func createDefaultConfig() component.Config {
	return &Config{AgentControl: agentcontrolextension.DefaultID(), Protocols: Protocols{File: configoptional.Default(defaultFile()), Stream: Stream{
		Endpoint:       "unix:///tmp/weft.sock",
		SocketMode:     "0600",
		MaxConnections: 64,
		MaxSessions:    1024,
		MaxFrameSize:   wire.MaxFrame,
		HelloTimeout:   10 * time.Second,
		SessionLinger:  5 * time.Second,
	}}}
}

// maxFrameSize bounds what max_frame_size may be: so much memory a connection can need.
const maxFrameSize = 256 << 20

// Validate names all options that cannot work, and what to do.
func (c *Config) Validate() error {
	s := &c.Protocols.Stream
	var errs []error
	complain := func(option, format string, args ...any) {
		errs = append(errs, fmt.Errorf("protocols::stream::%s: %s", option, fmt.Sprintf(format, args...)))
	}
	address, err := parseEndpoint(s.Endpoint)
	if err != nil {
		complain("endpoint", "%v", err)
	} else if isUnix(address) && s.TLS.HasValue() {
		complain("tls", "a Unix socket has no TLS; remove tls, or give a TCP endpoint such as tcp://localhost:4327")
	}
	if _, err := parseSocketMode(s.SocketMode); err != nil {
		complain("socket_mode", "%v", err)
	}
	if s.MaxConnections < 1 {
		complain("max_connections", "is %d; give 1 or more", s.MaxConnections)
	}
	if s.MaxSessions < 1 {
		complain("max_sessions", "is %d; give 1 or more", s.MaxSessions)
	}
	if s.MaxFrameSize < wire.MaxFrame || s.MaxFrameSize > maxFrameSize {
		complain("max_frame_size", "is %d; give %d to %d bytes, since agents send frames of up to %[2]d", s.MaxFrameSize, wire.MaxFrame, maxFrameSize)
	}
	if s.HelloTimeout <= 0 {
		complain("hello_timeout", "is %v; give more than 0, such as 10s", s.HelloTimeout)
	}
	if s.SessionLinger < 0 {
		complain("session_linger", "is %v; give 0 (a broken connection ends the session) or more, such as 5s", s.SessionLinger)
	}
	if c.Protocols.File.HasValue() {
		errs = append(errs, c.Protocols.File.Get().validate()...)
	}
	return errors.Join(errors.Join(errs...), c.validateAgentOptions())
}

// maxAgentOptions bounds the bytes of agent_options, far below what a control frame can hold.
const maxAgentOptions = 16 << 10

// validateAgentOptions leaves keys and values to the agent, which may be newer than this program.
func (c *Config) validateAgentOptions() error {
	size := 0
	for key, value := range c.AgentOptions {
		if key == "" || value == "" {
			return fmt.Errorf("agent_options: %q: %q has no key or no value; give both, such as depth: 8", key, value)
		}
		size += len(key) + len(value)
	}
	if size > maxAgentOptions {
		return fmt.Errorf("agent_options: keys and values take %d bytes; give at most %d", size, maxAgentOptions)
	}
	return nil
}
