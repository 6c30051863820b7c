// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"

	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

func TestSocketHasItsModeAndIsRemoved(t *testing.T) {
	for _, test := range []struct {
		mode string
		want fs.FileMode
	}{
		{DefaultConfig().SocketMode, 0o600},
		{"660", 0o660},
		{"0666", 0o666},
	} {
		path := filepath.Join(threadtest.SocketDir(t), "s")
		r := start(t, outlettest.New(t, nil, consumertest.NewNop()), func(s *Config) { s.Endpoint, s.SocketMode = "unix://"+path, test.mode })
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, fs.ModeSocket|test.want, info.Mode())
		r.stop()
		assert.NoFileExists(t, path)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	path := filepath.Join(threadtest.SocketDir(t), "s")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	dead.SetUnlinkOnClose(false)
	require.NoError(t, dead.Close())
	require.FileExists(t, path)

	r := start(t, outlettest.New(t, nil, consumertest.NewNop()), func(s *Config) { s.Endpoint = "unix://" + path })
	assert.Zero(t, dial(t, r).greet(hello))
}

func TestListenErrorsNameTheRemedy(t *testing.T) {
	dir := threadtest.SocketDir(t)
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("precious"), 0o600))
	used := filepath.Join(dir, "used")
	start(t, outlettest.New(t, nil, consumertest.NewNop()), func(s *Config) { s.Endpoint = "unix://" + used })

	for _, test := range []struct{ path, want string }{
		{used, "protocols::stream::endpoint: socket " + used + " is in use; stop the process using it or use another path"},
		{file, "protocols::stream::endpoint: " + file + " exists and is not a socket; remove it or use another path"},
		{dir + "/no/s", "protocols::stream::endpoint: the folder of socket " + dir + "/no/s does not exist; create it or use another path: " +
			"listen unix " + dir + "/no/s: bind: no such file or directory"},
	} {
		cfg := DefaultConfig()
		cfg.Endpoint = "unix://" + test.path
		_, err := Listen(t.Context(), Settings{Config: &cfg})
		require.EqualError(t, err, test.want)
	}
	assert.FileExists(t, file)
	assert.FileExists(t, used)
}
