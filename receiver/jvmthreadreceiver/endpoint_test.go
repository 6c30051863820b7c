// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"

	"github.com/weft-otel/weft/internal/threadtest"
)

func TestSocketIsOfItsModeAndGoesWithTheReceiver(t *testing.T) {
	for _, test := range []struct {
		mode string
		want fs.FileMode
	}{
		{createDefaultConfig().(*Config).Protocols.Stream.SocketMode, 0o600},
		{"660", 0o660},
		{"0666", 0o666},
	} {
		path := filepath.Join(threadtest.SocketDir(t), "s")
		r := start(t, settings(nil), consumertest.NewNop(), func(s *Stream) { s.Endpoint, s.SocketMode = "unix://"+path, test.mode })
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, fs.ModeSocket|test.want, info.Mode())
		require.NoError(t, r.Shutdown(t.Context()))
		assert.NoFileExists(t, path)
	}
}

func TestSocketOfADeadListenerIsReplaced(t *testing.T) {
	path := filepath.Join(threadtest.SocketDir(t), "s")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	dead.SetUnlinkOnClose(false)
	require.NoError(t, dead.Close())
	require.FileExists(t, path)

	r := start(t, settings(nil), consumertest.NewNop(), func(s *Stream) { s.Endpoint = "unix://" + path })
	assert.Zero(t, dial(t, r).greet(hello))
}

func TestStartSaysWhyItCannotListen(t *testing.T) {
	dir := threadtest.SocketDir(t)
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("precious"), 0o600))
	used := filepath.Join(dir, "used")
	start(t, settings(nil), consumertest.NewNop(), func(s *Stream) { s.Endpoint = "unix://" + used })

	for _, test := range []struct{ path, want string }{
		{used, "protocols::stream::endpoint: the socket " + used + " is in use; stop who listens there, or give another path"},
		{file, "protocols::stream::endpoint: " + file + " is there and is no socket; remove it, or give another path"},
		{dir + "/no/s", "protocols::stream::endpoint: the folder of the socket " + dir + "/no/s is not there; make it, or give another path: " +
			"listen unix " + dir + "/no/s: bind: no such file or directory"},
	} {
		cfg := createDefaultConfig().(*Config)
		cfg.Protocols.Stream.Endpoint = "unix://" + test.path
		rcv, err := createTraces(t.Context(), settings(nil), cfg, consumertest.NewNop())
		require.NoError(t, err)
		require.EqualError(t, rcv.Start(t.Context(), componenttest.NewNopHost()), test.want)
		require.NoError(t, rcv.Shutdown(t.Context()))
	}
	assert.FileExists(t, file)
	assert.FileExists(t, used)
}
