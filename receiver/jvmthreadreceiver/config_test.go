// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configauth"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"

	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/file"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/metadata"
)

func load(t *testing.T, name string) (*Config, error) {
	t.Helper()
	all, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	require.NoError(t, err)
	sub, err := all.Sub(component.NewIDWithName(metadata.Type, name).String())
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	return cfg, sub.Unmarshal(cfg)
}

func TestConfigs(t *testing.T) {
	for _, test := range []struct {
		name string
		want func(*StreamConfig)
	}{
		{"", func(*StreamConfig) {}},
		{"unix", func(s *StreamConfig) { s.Endpoint, s.SocketMode = "unix:///run/weft/agents.sock", "0660" }},
		{"tcp", func(s *StreamConfig) { s.Endpoint = "tcp://localhost:4327" }},
		{"every_option", func(s *StreamConfig) {
			s.Endpoint = "0.0.0.0:4327"
			server := configtls.NewDefaultServerConfig()
			server.CertFile, server.KeyFile = "server.pem", "server-key.pem"
			s.TLS = configoptional.Some(server)
			s.Auth = configoptional.Some(configauth.Config{AuthenticatorID: component.MustNewID("bearertokenauth")})
			s.IncludeMetadata = true
			s.MaxConnections, s.MaxConnectionsPerPeer, s.MaxHalfOpen = 500, 400, 100
			s.MaxDefinitionsMiB, s.MaxBuffersMiB = 1024, 64
			s.MaxSessions = 2000
			s.AllowUnverifiedSessions = true
			s.MaxFrameSize = 4 << 20
			s.HelloTimeout = 3 * time.Second
			s.SessionLinger = time.Minute
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg, err := load(t, test.name)
			require.NoError(t, err)
			require.NoError(t, confmap.Validate(cfg))
			want := createDefaultConfig().(*Config)
			test.want(&want.Protocols.Stream)
			assert.Equal(t, want, cfg)
		})
	}
}

func TestUnknownOptionIsRejected(t *testing.T) {
	_, err := load(t, "unknown_key")
	require.ErrorContains(t, err, "endpont")
}

func TestConfigErrorsNameOptionAndRemedy(t *testing.T) {
	for _, test := range []struct {
		change func(*StreamConfig)
		want   string
	}{
		{
			func(s *StreamConfig) { s.Endpoint = "ftp://localhost:1" },
			`protocols::stream::endpoint: "ftp://localhost:1" has unknown scheme "ftp"; use unix:///path, tcp://host:port or host:port`,
		},
		{
			func(s *StreamConfig) { s.Endpoint = "tcp://localhost" },
			`protocols::stream::endpoint: "tcp://localhost" is not a host and port; use unix:///path, tcp://host:port or host:port`,
		},
		{
			func(s *StreamConfig) { s.Endpoint = "localhost:http-alt" },
			`protocols::stream::endpoint: "localhost:http-alt" lacks a port from 0 to 65535; use unix:///path, tcp://host:port or host:port`,
		},
		{
			func(s *StreamConfig) { s.Endpoint = "unix://weft.sock" },
			`protocols::stream::endpoint: socket path "weft.sock" is not absolute; use three slashes, as in unix:///tmp/weft.sock`,
		},
		{
			func(s *StreamConfig) { s.Endpoint = "unix:///" + strings.Repeat("x", 107) },
			"protocols::stream::endpoint: socket path has 108 bytes, the limit is 107; use a shorter one, such as unix:///tmp/weft.sock",
		},
		{
			func(s *StreamConfig) { s.TLS = configoptional.Some(configtls.NewDefaultServerConfig()) },
			"protocols::stream::tls: not supported on a Unix socket; remove tls or use a TCP endpoint such as tcp://localhost:4327",
		},
		{
			func(s *StreamConfig) { s.MaxConnections = 0 },
			"protocols::stream::max_connections: is 0; use 1 or more",
		},
		{
			func(s *StreamConfig) { s.MaxConnectionsPerPeer, s.MaxHalfOpen = -1, 0 },
			"protocols::stream::max_connections_per_peer: is -1; use 0 (three quarters of max_connections) or more\n" +
				"protocols::stream::max_half_open: is 0; use 1 or more",
		},
		{
			func(s *StreamConfig) { s.MaxDefinitionsMiB, s.MaxBuffersMiB = 0, 15 },
			"protocols::stream::max_definitions_mib: is 0; use 1 to 1048576, and about 2 for each JVM\n" +
				"protocols::stream::max_buffers_mib: is 15; use 16 to 1048576",
		},
		{
			func(s *StreamConfig) { s.MaxSessions = -1 },
			"protocols::stream::max_sessions: is -1; use 1 or more",
		},
		{
			func(s *StreamConfig) { s.SocketMode = "0777" },
			`protocols::stream::socket_mode: "0777" is not a valid socket mode; use "0600" (the collector's user), "0660" (also the socket's group) or "0666" (all users)`,
		},
		{
			func(s *StreamConfig) { s.SocketMode = "0060" },
			`protocols::stream::socket_mode: "0060" is not a valid socket mode; use "0600" (the collector's user), "0660" (also the socket's group) or "0666" (all users)`,
		},
		{
			func(s *StreamConfig) { s.SocketMode = "rw" },
			`protocols::stream::socket_mode: "rw" is not a valid socket mode; use "0600" (the collector's user), "0660" (also the socket's group) or "0666" (all users)`,
		},
		{
			func(s *StreamConfig) { s.MaxFrameSize = 65536 },
			"protocols::stream::max_frame_size: is 65536; use 1048576 to 268435456 bytes, since agents send frames of up to 1048576",
		},
		{
			func(s *StreamConfig) { s.HelloTimeout = 0 },
			"protocols::stream::hello_timeout: is 0s; use more than 0, such as 10s",
		},
		{
			func(s *StreamConfig) { s.SessionLinger = -time.Second },
			"protocols::stream::session_linger: is -1s; use 0 (a broken connection ends the session) or more, such as 5s",
		},
		{
			func(s *StreamConfig) { s.MaxConnections, s.MaxSessions = 0, 0 },
			"protocols::stream::max_connections: is 0; use 1 or more\nprotocols::stream::max_sessions: is 0; use 1 or more",
		},
	} {
		cfg := createDefaultConfig().(*Config)
		test.change(&cfg.Protocols.Stream)
		assert.EqualError(t, cfg.Validate(), test.want)
	}
}

func TestFileConfig(t *testing.T) {
	cfg, err := load(t, "files")
	require.NoError(t, err)
	require.NoError(t, confmap.Validate(cfg))
	storage := component.MustNewIDWithName("file_storage", "recordings")
	assert.Equal(t, FileConfig{
		Include: []string{"/var/recordings/**/*.jfr", "/var/log/*.orca"}, Exclude: []string{"/var/recordings/old/**"}, Format: "jfr", Follow: true,
		PollInterval: 5 * time.Second, Pace: 10, Start: time.Date(2026, 11, 21, 16, 50, 0, 0, time.UTC), TimeUnit: time.Microsecond, MaxFiles: 4,
		MaxRecordSize: 65536, MaxUnpackedSize: 1 << 30, Storage: &storage,
	}, *cfg.Protocols.File.Get())
	assert.True(t, cfg.filesOnly)

	cfg, err = load(t, "both")
	require.NoError(t, err)
	assert.False(t, cfg.filesOnly)
	assert.Equal(t, []string{"x"}, cfg.Protocols.File.Get().Include)
	assert.Equal(t, time.Second, cfg.Protocols.File.Get().PollInterval)
}

func TestFileConfigErrorsNameOptionAndRemedy(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.Protocols.File = configoptional.Some(FileConfig{Format: "hprof", Pace: -1, Exclude: []string{"[a"}, TimeUnit: -1, Start: time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)})
	assert.EqualError(t, cfg.Validate(), `protocols::file::include: is empty; list paths such as /var/recordings/**/*.jfr
protocols::file::exclude: invalid pattern "[a"; escape special characters with a backslash
protocols::file::format: unknown format "hprof": want one of native, jfr, tptp, orca, triples, otlp, dump
protocols::file::poll_interval: is 0s; use 1ms or more, such as 1s
protocols::file::pace: is -1; use 0 (as fast as possible), 1 (as recorded) or a factor
protocols::file::start: is 2300-01-01T00:00:00Z; use a time from 1970 to 2200, such as 2026-11-21T16:50:00Z
protocols::file::time_unit: is -1ns; use 0 (the format's default) or 1ns to 1s, such as 1ms
protocols::file::max_record_size: is 0; use 1024 to 268435456 bytes
protocols::file::max_unpacked_size: is 0; use 16777216 bytes or more
protocols::file::max_files: is 0; use 1 or more`)
}

func TestPaceIsAFiniteNumber(t *testing.T) {
	for _, pace := range []float64{math.NaN(), math.Inf(1)} {
		cfg := createDefaultConfig().(*Config)
		cfg.Protocols.File = configoptional.Some(file.DefaultConfig())
		files := cfg.Protocols.File.Get()
		files.Include, files.Pace = []string{"x"}, pace
		assert.ErrorContains(t, cfg.Validate(), "protocols::file::pace: is ")
	}
}

func TestLongestSocketPathIsAccepted(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.Protocols.Stream.Endpoint = "unix:///" + strings.Repeat("x", 106)
	assert.NoError(t, cfg.Validate())
}
