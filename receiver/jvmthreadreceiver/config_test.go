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
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"

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

func TestConfigOfEachFormIsTaken(t *testing.T) {
	for _, test := range []struct {
		name string
		want func(*Stream)
	}{
		{"", func(*Stream) {}},
		{"unix", func(s *Stream) { s.Endpoint, s.SocketMode = "unix:///run/weft/agents.sock", "0660" }},
		{"tcp", func(s *Stream) { s.Endpoint = "tcp://localhost:4327" }},
		{"every_option", func(s *Stream) {
			s.Endpoint = "0.0.0.0:4327"
			server := configtls.NewDefaultServerConfig()
			server.CertFile, server.KeyFile = "server.pem", "server-key.pem"
			s.TLS = configoptional.Some(server)
			s.MaxConnections = 500
			s.MaxSessions = 2000
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

func TestConfigWithAnUnknownKeyIsRefused(t *testing.T) {
	_, err := load(t, "unknown_key")
	require.ErrorContains(t, err, "endpont")
}

func TestConfigErrorsNameTheKeyAndTheRemedy(t *testing.T) {
	for _, test := range []struct {
		change func(*Stream)
		want   string
	}{
		{
			func(s *Stream) { s.Endpoint = "" },
			"protocols::stream::endpoint: is empty; give unix:///path, tcp://host:port or host:port",
		},
		{
			func(s *Stream) { s.Endpoint = "ftp://localhost:1" },
			`protocols::stream::endpoint: "ftp://localhost:1" has the unknown scheme "ftp"; give unix:///path, tcp://host:port or host:port`,
		},
		{
			func(s *Stream) { s.Endpoint = "tcp://localhost" },
			`protocols::stream::endpoint: "tcp://localhost" is no host and port; give unix:///path, tcp://host:port or host:port`,
		},
		{
			func(s *Stream) { s.Endpoint = "localhost:http-alt" },
			`protocols::stream::endpoint: "localhost:http-alt" has no port from 0 to 65535; give unix:///path, tcp://host:port or host:port`,
		},
		{
			func(s *Stream) { s.Endpoint = "unix://weft.sock" },
			`protocols::stream::endpoint: the path "weft.sock" of the socket is not absolute; write three slashes, as in unix:///tmp/weft.sock`,
		},
		{
			func(s *Stream) { s.Endpoint = "unix:///" + strings.Repeat("x", 107) },
			"protocols::stream::endpoint: the path of the socket has 108 bytes, the system takes 107; give a shorter one, such as unix:///tmp/weft.sock",
		},
		{
			func(s *Stream) { s.TLS = configoptional.Some(configtls.NewDefaultServerConfig()) },
			"protocols::stream::tls: a Unix socket has no TLS; remove tls, or give a TCP endpoint such as tcp://localhost:4327",
		},
		{
			func(s *Stream) { s.MaxConnections = 0 },
			"protocols::stream::max_connections: is 0; give 1 or more",
		},
		{
			func(s *Stream) { s.MaxSessions = -1 },
			"protocols::stream::max_sessions: is -1; give 1 or more",
		},
		{
			func(s *Stream) { s.SocketMode = "0777" },
			`protocols::stream::socket_mode: "0777" is no mode of a socket; give "0600" (the collector's user), "0660" (the socket's group, too) or "0666" (all users)`,
		},
		{
			func(s *Stream) { s.SocketMode = "0060" },
			`protocols::stream::socket_mode: "0060" is no mode of a socket; give "0600" (the collector's user), "0660" (the socket's group, too) or "0666" (all users)`,
		},
		{
			func(s *Stream) { s.SocketMode = "rw" },
			`protocols::stream::socket_mode: "rw" is no mode of a socket; give "0600" (the collector's user), "0660" (the socket's group, too) or "0666" (all users)`,
		},
		{
			func(s *Stream) { s.MaxFrameSize = 65536 },
			"protocols::stream::max_frame_size: is 65536; give 1048576 to 268435456 bytes, since agents send frames of up to 1048576",
		},
		{
			func(s *Stream) { s.HelloTimeout = 0 },
			"protocols::stream::hello_timeout: is 0s; give more than 0, such as 10s",
		},
		{
			func(s *Stream) { s.SessionLinger = -time.Second },
			"protocols::stream::session_linger: is -1s; give 0 (a broken connection ends the session) or more, such as 5s",
		},
		{
			func(s *Stream) { s.MaxConnections, s.MaxSessions = 0, 0 },
			"protocols::stream::max_connections: is 0; give 1 or more\nprotocols::stream::max_sessions: is 0; give 1 or more",
		},
	} {
		cfg := createDefaultConfig().(*Config)
		test.change(&cfg.Protocols.Stream)
		assert.EqualError(t, cfg.Validate(), test.want)
	}
}

func TestConfigOfFiles(t *testing.T) {
	cfg, err := load(t, "files")
	require.NoError(t, err)
	require.NoError(t, confmap.Validate(cfg))
	storage := component.MustNewIDWithName("file_storage", "recordings")
	assert.Equal(t, File{
		Include: []string{"/var/recordings/**/*.jfr", "/var/log/*.orca"}, Exclude: []string{"/var/recordings/old/**"}, Format: "jfr", Follow: true,
		PollInterval: 5 * time.Second, Pace: 10, Start: time.Date(2026, 11, 21, 16, 50, 0, 0, time.UTC), TimeUnit: time.Microsecond, MaxFiles: 4,
		MaxRecordSize: 65536, MaxUnpackedSize: 1 << 30, Storage: &storage,
	}, *cfg.Protocols.File.Get())
	assert.True(t, cfg.noStream)

	cfg, err = load(t, "both")
	require.NoError(t, err)
	assert.False(t, cfg.noStream)
	assert.Equal(t, []string{"x"}, cfg.Protocols.File.Get().Include)
	assert.Equal(t, time.Second, cfg.Protocols.File.Get().PollInterval)
}

func TestConfigErrorsOfFilesNameTheKeyAndTheRemedy(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.Protocols.File = configoptional.Some(File{Format: "hprof", Pace: -1, Exclude: []string{"[a"}, TimeUnit: -1, Start: time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)})
	assert.EqualError(t, cfg.Validate(), `protocols::file::include: is empty; give paths, such as /var/recordings/**/*.jfr
protocols::file::exclude: "[a" is not a pattern; escape special characters with a backslash
protocols::file::format: unknown format "hprof": want one of native, jfr, tptp, orca, triples
protocols::file::poll_interval: is 0s; give 1ms or more, such as 1s
protocols::file::pace: is -1; give 0 (as fast as possible), 1 (as recorded) or a factor
protocols::file::start: is 2300-01-01T00:00:00Z; give a time from 1970 to 2200, such as 2026-11-21T16:50:00Z
protocols::file::time_unit: is -1ns; give 0 (as the format says) or 1ns to 1s, such as 1ms
protocols::file::max_record_size: is 0; give 1024 to 268435456 bytes
protocols::file::max_unpacked_size: is 0; give 16777216 bytes or more
protocols::file::max_files: is 0; give 1 or more`)
}

func TestPaceIsANumber(t *testing.T) {
	for _, pace := range []float64{math.NaN(), math.Inf(1)} {
		cfg := createDefaultConfig().(*Config)
		cfg.Protocols.File = configoptional.Some(defaultFile())
		file := cfg.Protocols.File.Get()
		file.Include, file.Pace = []string{"x"}, pace
		assert.ErrorContains(t, cfg.Validate(), "protocols::file::pace: is ")
	}
}

func TestPathOfGreatestLengthIsTaken(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.Protocols.Stream.Endpoint = "unix:///" + strings.Repeat("x", 106)
	assert.NoError(t, cfg.Validate())
}
