// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"go.opentelemetry.io/collector/config/configauth"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"
	"go.opentelemetry.io/collector/extension/extensionauth"

	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/internal/entrance"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
)

// Config configures the listener that agents connect to.
type Config struct {
	// Endpoint is unix:///path, tcp://host:port or host:port. Empty is the default socket: see places.
	Endpoint string `mapstructure:"endpoint"`
	// Listener replaces Endpoint and SocketMode in a program that embeds the receiver, which closes it. Nil: the receiver opens one.
	Listener net.Listener `mapstructure:"-"`
	// SocketMode is the octal mode of a Unix socket. Connecting requires write permission.
	SocketMode string `mapstructure:"socket_mode"`
	// TLS is supported for TCP only.
	TLS configoptional.Optional[configtls.ServerConfig] `mapstructure:"tls"`
	// Auth names the extension that checks the credentials in each agent's hello. Without it, whoever can connect may send.
	Auth configoptional.Optional[configauth.Config] `mapstructure:"auth"`
	// IncludeMetadata passes the headers of the hello to the components that follow, as client metadata.
	IncludeMetadata bool `mapstructure:"include_metadata"`
	// MaxConnections is the maximum number of agents served concurrently.
	MaxConnections int `mapstructure:"max_connections"`
	// MaxConnectionsPerPeer limits the connections of a user of a Unix socket, or of an address. 0 is three quarters of MaxConnections.
	MaxConnectionsPerPeer int `mapstructure:"max_connections_per_peer"`
	// MaxHalfOpen is the maximum number of connections whose hello is not complete. Beyond it the oldest of the peer with most is closed.
	MaxHalfOpen int `mapstructure:"max_half_open"`
	// MaxSessions is the maximum number of JVMs known at the same time, including those that may reconnect.
	MaxSessions int `mapstructure:"max_sessions"`
	// MaxFrameSize is the maximum size of a frame's payload in bytes.
	MaxFrameSize int `mapstructure:"max_frame_size"`
	// MaxDefinitionsMiB limits the memory for the names and stacks of all sessions. Further definitions are refused.
	MaxDefinitionsMiB int `mapstructure:"max_definitions_mib"`
	// MaxBuffersMiB limits the memory for frames that are being received, and that for batches on their way. Further ones wait.
	MaxBuffersMiB int `mapstructure:"max_buffers_mib"`
	// HelloTimeout is the time limit for the agent's hello after it connects.
	HelloTimeout time.Duration `mapstructure:"hello_timeout"`
	// SessionLinger is how long a disconnected session may reconnect before it ends as lost.
	SessionLinger time.Duration `mapstructure:"session_linger"`
	// AllowUnverifiedSessions accepts agents that do not prove that they own their session: those before session secrets.
	AllowUnverifiedSessions bool `mapstructure:"allow_unverified_sessions"`

	_ struct{} // prevents unkeyed literals
}

// Settings are what the server needs from the receiver.
type Settings struct {
	Config       *Config
	Out          *outlet.Outlet
	AgentOptions map[string]string              // sent to each agent that connects
	Agents       agentcontrolextension.Registry // nil disables remote control
	Auth         extensionauth.Server           // nil: no credentials are checked
	Entrance     *entrance.Board                // where refusals are reported; nil: nowhere

	testTimeout time.Duration // tests replace writeTimeout and frameTime by it, unless it is 0
}

// DefaultConfig returns a listener on a Unix socket for the agents of the same user.
func DefaultConfig() Config {
	return Config{
		SocketMode:     "0600",
		MaxConnections: 2048,
		MaxHalfOpen:    256,
		MaxSessions:    2048,
		MaxFrameSize:   wire.MaxFrame,

		MaxDefinitionsMiB: 512,
		MaxBuffersMiB:     128,

		HelloTimeout:  10 * time.Second,
		SessionLinger: 5 * time.Second,
	}
}

// connectionsPerPeer returns the limit of one peer.
func (c *Config) connectionsPerPeer() int {
	if c.MaxConnectionsPerPeer > 0 {
		return c.MaxConnectionsPerPeer
	}
	return c.perPeer(c.MaxConnections)
}

// perPeer leaves the last quarter of a limit to other peers, if there may be any.
func (c *Config) perPeer(limit int) int {
	const others = 0o066
	unix := c.Endpoint == "" || strings.HasPrefix(c.Endpoint, "unix:")
	if mode, err := parseSocketMode(c.SocketMode); err == nil && unix && mode&others == 0 {
		return limit
	}
	return limit - limit/4
}

// maxFrameSize is the upper limit of max_frame_size. A connection may need as much memory.
const maxFrameSize = 256 << 20

// The range of memory limits in MiB. Each connection holds some KiB and should be able to send a frame of the default size.
const (
	minBuffersMiB = 16
	maxMiB        = 1 << 20
)

// Check reports every invalid option with its full path and the remedy.
func (c *Config) Check() error {
	var errs []error
	report := func(option, format string, args ...any) {
		errs = append(errs, fmt.Errorf("protocols::stream::%s: %s", option, fmt.Sprintf(format, args...)))
	}
	address, err := c.resolve()
	if err != nil {
		report("endpoint", "%v", err)
	} else if isUnix(address) && c.TLS.HasValue() {
		report("tls", "not supported on a Unix socket; remove tls or use a TCP endpoint such as tcp://localhost:4327")
	}
	if _, err := parseSocketMode(c.SocketMode); err != nil {
		report("socket_mode", "%v", err)
	}
	if c.MaxConnections < 1 {
		report("max_connections", "is %d; use 1 or more", c.MaxConnections)
	}
	if c.MaxConnectionsPerPeer < 0 {
		report("max_connections_per_peer", "is %d; use 0 (three quarters of max_connections) or more", c.MaxConnectionsPerPeer)
	}
	if c.MaxHalfOpen < 1 {
		report("max_half_open", "is %d; use 1 or more", c.MaxHalfOpen)
	}
	if c.MaxDefinitionsMiB < 1 || c.MaxDefinitionsMiB > maxMiB {
		report("max_definitions_mib", "is %d; use 1 to %d, and about 2 for each JVM", c.MaxDefinitionsMiB, maxMiB)
	}
	if c.MaxBuffersMiB < minBuffersMiB || c.MaxBuffersMiB > maxMiB {
		report("max_buffers_mib", "is %d; use %d to %d", c.MaxBuffersMiB, minBuffersMiB, maxMiB)
	}
	if c.MaxSessions < 1 {
		report("max_sessions", "is %d; use 1 or more", c.MaxSessions)
	}
	if c.MaxFrameSize < wire.MaxFrame || c.MaxFrameSize > maxFrameSize {
		report("max_frame_size", "is %d; use %d to %d bytes, since agents send frames of up to %[2]d", c.MaxFrameSize, wire.MaxFrame, maxFrameSize)
	}
	if c.HelloTimeout <= 0 {
		report("hello_timeout", "is %v; use more than 0, such as 10s", c.HelloTimeout)
	}
	if c.SessionLinger < 0 {
		report("session_linger", "is %v; use 0 (a broken connection ends the session) or more, such as 5s", c.SessionLinger)
	}
	return errors.Join(errs...)
}

// Transport returns the transport of the endpoint: unix or tcp.
func (c *Config) Transport() string {
	address, _ := c.resolve() // checked before
	return string(address.Transport)
}
