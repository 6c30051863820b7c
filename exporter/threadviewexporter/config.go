// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadviewexporter

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"

	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/extension/threadengineextension"
	"github.com/weft-otel/weft/internal/origin"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// defaultEndpoint is the default address of the page, on this machine only.
const defaultEndpoint = "localhost:8090"

// Config configures the page, and how much history it keeps.
type Config struct {
	// HTTP is the server: endpoint, tls, auth and time-outs.
	HTTP confighttp.ServerConfig `mapstructure:",squash"`
	// PathPrefix is the path of the page behind a proxy: "/" or "/weft/".
	PathPrefix string `mapstructure:"path_prefix"`
	// AllowedHosts are the host names that browsers may use in addition to localhost and addresses, such as that of a proxy. Others are refused,
	// to prevent DNS rebinding.
	AllowedHosts []string `mapstructure:"allowed_hosts"`
	// MaxBytes bounds the store, from 1 MiB, at about 55 bytes per interval. The session with the most bytes gives up its oldest window first.
	MaxBytes int64 `mapstructure:"max_bytes"`
	// Directory keeps sessions across restarts, up to MaxBytes. Empty: they are lost.
	Directory string `mapstructure:"directory"`
	// Window is the delay of the page, from 100ms to 4s.
	Window time.Duration `mapstructure:"window"`
	// Trace links to the spans of thread_span.
	Trace TraceConfig `mapstructure:"trace"`
	// Control lets the page pause, resume and reconfigure agents. It requires authentication; the receiver must allow it, too (remote_control).
	Control bool `mapstructure:"control"`
	// AgentControl is the agent_control extension through which Control reaches agents.
	AgentControl component.ID `mapstructure:"agent_control"`
	// Engine is the thread_engine extension whose sessions the page shows; empty: the exporter has an engine of its own. The following options
	// are then those of the extension.
	Engine component.ID `mapstructure:"engine"`
	// MaxSessions bounds the live sessions; events of more are refused.
	MaxSessions int `mapstructure:"max_sessions"`
	// SessionTimeout ends a session that has been silent for so long.
	SessionTimeout time.Duration `mapstructure:"session_timeout"`
	// ReorderTimeout is how long to wait for a missing batch before counting it as lost.
	ReorderTimeout time.Duration `mapstructure:"reorder_timeout"`
	// Frames say whose code the frames of stacks are.
	Frames sessions.FrameOptions `mapstructure:"frames"`
	// Carriers are the keys, one of which must have signed what arrives from other collectors.
	Carriers origin.Config `mapstructure:"carriers"`

	_ struct{} // prevent unkeyed literals
}

// TraceConfig configures links to the spans of thread_span.
type TraceConfig struct {
	// URL is a template of a link with {trace_id} and {span_id}: http://localhost:16686/trace/{trace_id}?uiFind={span_id}. Empty: no links.
	URL string `mapstructure:"url"`
	// Window is the window of thread_span. Each window is a trace.
	Window time.Duration `mapstructure:"window"`

	_ struct{}
}

var _ component.Config = (*Config)(nil)

func createDefaultConfig() component.Config {
	common := sessions.DefaultOptions()
	cfg := &Config{
		HTTP: confighttp.NewDefaultServerConfig(), PathPrefix: "/", MaxBytes: store.DefaultMaxBytes, Window: time.Second,
		AgentControl: agentcontrolextension.DefaultID(),
		Trace:        TraceConfig{Window: common.Window},
		MaxSessions:  common.MaxSessions, SessionTimeout: common.SessionTimeout, ReorderTimeout: common.ReorderTimeout,
	}
	cfg.HTTP.NetAddr.Endpoint = defaultEndpoint
	cfg.HTTP.ReadTimeout = 30 * time.Second
	cfg.HTTP.ReadHeaderTimeout = 10 * time.Second
	cfg.HTTP.MaxRequestBodySize = 1 << 20
	cfg.HTTP.CompressionAlgorithms = []string{""} // the page compresses no request; a body of zstd may request 512 MiB of memory
	return cfg
}

var prefix = regexp.MustCompile(`^/([A-Za-z0-9._~-]+/)*$`)

// Validate reports every option that cannot work, with what to write instead.
func (c *Config) Validate() error {
	var errs []error
	if c.HTTP.NetAddr.Endpoint == "" {
		errs = append(errs, errors.New("endpoint: must not be empty, use host:port such as "+defaultEndpoint))
	}
	if !prefix.MatchString(c.PathPrefix) || strings.Contains(c.PathPrefix, "/../") || strings.Contains(c.PathPrefix, "/./") {
		errs = append(errs, fmt.Errorf("path_prefix: invalid path %q, want / or a path that begins and ends with a slash such as /weft/", c.PathPrefix))
	}
	for _, host := range c.AllowedHosts {
		if host == "" || strings.ContainsAny(host, ":/ *") {
			errs = append(errs, fmt.Errorf("allowed_hosts: invalid host name %q, omit scheme, port and path: weft.example.com", host))
		}
	}
	if c.MaxBytes < 1<<20 {
		errs = append(errs, fmt.Errorf("max_bytes: %d is out of range, use %d (1 MiB) or more", c.MaxBytes, 1<<20))
	}
	if u := c.Trace.URL; u != "" {
		switch {
		case !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") && !strings.HasPrefix(u, "/"):
			errs = append(errs, fmt.Errorf("trace::url: invalid link %q, want one that begins with http://, https:// or /", u))
		case !strings.Contains(u, "{trace_id}"):
			errs = append(errs, fmt.Errorf("trace::url: %q has no {trace_id}, put it where the trace ID belongs", u))
		}
	}
	errs = append(errs,
		c.validateEngine(),
		c.validateUse(),
		sessions.Within("window", c.Window, 100*time.Millisecond, 4*time.Second),
		sessions.Within("trace::window", c.Trace.Window, 10*time.Millisecond, time.Hour),
		sessions.Within("session_timeout", c.SessionTimeout, time.Second, 24*time.Hour),
		sessions.Within("reorder_timeout", c.ReorderTimeout, 10*time.Millisecond, time.Hour),
		sessions.AtLeast("max_sessions", c.MaxSessions, 1, ""),
	)
	return errors.Join(errs...)
}

// sessions returns the options of an engine of the exporter's own, or the engine's name. The page finds critical paths itself.
func (c *Config) sessions() *threadengineextension.Options {
	o := threadengineextension.DefaultOptions()
	o.Engine, o.Window, o.CriticalPath.Mode = c.Engine, c.Window, sessions.PathOff
	o.MaxSessions, o.SessionTimeout, o.ReorderTimeout, o.Frames, o.Carriers = c.MaxSessions, c.SessionTimeout, c.ReorderTimeout, c.Frames, c.Carriers
	return &o
}

// validateEngine reports options that belong to the engine.
func (c *Config) validateEngine() error {
	own, defaults := c.sessions(), threadengineextension.DefaultOptions()
	own.Window, own.CriticalPath = defaults.Window, defaults.CriticalPath // the window is the page's
	return own.Validate()
}

// validateUse reports options that have no effect, or would be unsafe, because of another one.
func (c *Config) validateUse() error {
	var errs []error
	normal := createDefaultConfig().(*Config)
	if c.sessions().Shared() && c.Trace.Window != normal.Trace.Window {
		errs = append(errs, fmt.Errorf("trace::window: has no effect with engine: %s, which has the window of the traces; remove it", c.Engine))
	}
	if c.Control && !c.authenticates() {
		errs = append(errs, errors.New("control: everyone who can reach the page could change agents; add auth, or tls with client_ca_file, or remove control"))
	}
	if !c.Control && c.AgentControl != normal.AgentControl {
		errs = append(errs, errors.New("agent_control: has no effect without control: true; add that or remove agent_control"))
	}
	return errors.Join(errs...)
}

// authenticates reports whether the page knows its clients.
func (c *Config) authenticates() bool {
	return c.HTTP.Auth.HasValue() || c.HTTP.TLS.HasValue() && c.HTTP.TLS.Get().ClientCAFile != ""
}
