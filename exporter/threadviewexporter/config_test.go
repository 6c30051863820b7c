// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadviewexporter

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
)

func TestConfig(t *testing.T) {
	conf, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	require.NoError(t, err)
	load := func(name string) *Config {
		sub, err := conf.Sub(name)
		require.NoError(t, err)
		cfg := createDefaultConfig().(*Config)
		require.NoError(t, sub.Unmarshal(cfg))
		return cfg
	}
	assert.Equal(t, createDefaultConfig(), load("thread_view"))
	require.NoError(t, load("thread_view").Validate())

	all := load("thread_view/all")
	require.NoError(t, all.Validate())
	assert.Equal(t, "0.0.0.0:8091", all.HTTP.NetAddr.Endpoint)
	assert.Equal(t, "/weft/", all.PathPrefix)
	assert.Equal(t, []string{"weft.example.com"}, all.AllowedHosts)
	assert.Equal(t, int64(1<<30), all.MaxBytes)
	assert.Equal(t, "/var/lib/weft", all.Directory)
	assert.Equal(t, 500*time.Millisecond, all.Window)
	assert.Equal(t, "http://jaeger:16686/trace/{trace_id}?uiFind={span_id}", all.Trace.URL)
	assert.Equal(t, 5*time.Second, all.Trace.Window)
	assert.True(t, all.Control)
	assert.Equal(t, component.MustNewIDWithName("agent_control", "blue"), all.AgentControl)
	assert.Equal(t, 10, all.MaxSessions)

	for name, want := range map[string]string{
		"endpoint":     "endpoint: must not be empty",
		"path_prefix":  `path_prefix: invalid path "weft"`,
		"max_bytes":    "max_bytes: 1000 is out of range",
		"url":          `trace::url: invalid link "javascript:alert(1)//{trace_id}"`,
		"trace":        "has no {trace_id}",
		"window":       "window: 1h0m0s is out of range",
		"trace_window": "trace::window: has no effect with engine: thread_engine",
		"agents":       "agent_control: has no effect without control: true",
		"control":      "control: everyone who can reach the page could change agents; add auth, or tls with client_ca_file, or remove control",
		"engine":       "max_sessions, session_timeout: has no effect with engine: thread_engine; set it in that extension",
		"hosts":        `allowed_hosts: invalid host name "https://weft.example.com"`,
	} {
		require.ErrorContains(t, load("thread_view/"+name).Validate(), want, name)
	}
	require.NoError(t, load("thread_view/certificates").Validate())
	// Options of an engine that the page does not have, also with an engine of its own.
	for _, name := range []string{"ack_within", "sessions_limit_mib", "journal_limit_mib", "storage", "critical_path", "max_spans_per_window"} {
		err := confmap.NewFromStringMap(map[string]any{name: 1}).Unmarshal(createDefaultConfig())
		require.ErrorContains(t, err, "has invalid keys: "+name)
	}
	all.Frames.Libraries = []string{""}
	assert.ErrorContains(t, confmap.Validate(all), "frames: libraries: a prefix is empty; ")
}
