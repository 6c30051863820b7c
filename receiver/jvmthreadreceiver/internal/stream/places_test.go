// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"

	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

// stranger is a user that no process of the test has.
const stranger = 4711

func needsRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: files of another user need root")
	}
}

func folder(t *testing.T, path string, mode fs.FileMode, uid int) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(path, 0o700))
	require.NoError(t, os.Chmod(path, mode))
	if uid != os.Geteuid() {
		require.NoError(t, os.Lchown(path, uid, -1))
	}
	return path
}

func TestDefaultSocketIsTheFirstThatCanBeUsed(t *testing.T) {
	dir := threadtest.SocketDir(t)
	p := places{shared: dir + "/shared", runtime: dir + "/runtime", open: "/tmp"}
	assert.Equal(t, "unix:///tmp/weft.sock", p.endpoint(0o600))
	require.NoError(t, os.WriteFile(p.runtime, nil, 0o600))
	assert.Equal(t, "unix:///tmp/weft.sock", p.endpoint(0o600), "a file")
	require.NoError(t, os.Remove(p.runtime))

	folder(t, p.runtime, 0o770, os.Geteuid())
	assert.Equal(t, "unix:///tmp/weft.sock", p.endpoint(0o600), "others can write to it")
	folder(t, p.runtime, 0o700, os.Geteuid())
	assert.Equal(t, "unix://"+p.runtime+"/weft.sock", p.endpoint(0o600))
	assert.Equal(t, "unix:///tmp/weft.sock", p.endpoint(0o666), "others cannot reach a socket there")

	folder(t, p.shared, 0o750, os.Geteuid())
	assert.Equal(t, "unix://"+p.shared+"/weft.sock", p.endpoint(0o600))
	assert.Equal(t, "unix://"+p.shared+"/weft.sock", p.endpoint(0o660))
}

func TestRuntimeFolderOfAnotherUserIsNotUsed(t *testing.T) {
	needsRoot(t)
	dir := threadtest.SocketDir(t)
	p := places{shared: dir + "/shared", runtime: folder(t, dir+"/runtime", 0o700, stranger), open: "/tmp"}
	assert.Equal(t, "unix:///tmp/weft.sock", p.endpoint(0o600))
}

func TestEnvironmentNamesTheRuntimeFolder(t *testing.T) {
	own := "/run/user/" + strconv.Itoa(os.Geteuid())
	for value, want := range map[string]string{"/elsewhere/x": "/elsewhere/x", "": own, "relative": own} {
		t.Setenv("XDG_RUNTIME_DIR", value)
		assert.Equal(t, places{shared: "/run/weft", runtime: want, open: "/tmp"}, defaultPlaces())
	}
}

func TestEmptyEndpointIsTheDefaultSocket(t *testing.T) {
	if _, err := os.Stat("/run/weft"); err == nil {
		t.Skip("SKIPPED: this machine has /run/weft")
	}
	dir := threadtest.SocketDir(t)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	r := start(t, outlettest.New(t, nil, consumertest.NewNop()), func(s *Config) { s.Endpoint = "" })
	assert.Equal(t, filepath.Join(dir, "weft.sock"), r.listener.Addr().String())
}

func TestSocketOfAnotherUserIsNotReplaced(t *testing.T) {
	needsRoot(t)
	path := filepath.Join(threadtest.SocketDir(t), "s")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	dead.SetUnlinkOnClose(false)
	require.NoError(t, dead.Close())
	require.NoError(t, os.Lchown(path, stranger, stranger))
	cfg := DefaultConfig()
	cfg.Endpoint = "unix://" + path
	_, err = Listen(t.Context(), Settings{Config: &cfg})
	require.EqualError(t, err, "protocols::stream::endpoint: socket "+path+" belongs to user 4711, not to the collector's user 0; "+
		"stop the process using it and remove it, or use another path")
	assert.FileExists(t, path)
}

func TestExposedFoldersAreReported(t *testing.T) {
	dir := threadtest.SocketDir(t)
	for i, test := range []struct {
		mode fs.FileMode
		uid  int
		want string
	}{
		{0o700, os.Geteuid(), ""},
		{0o755, os.Geteuid(), ""},
		{0o777 | fs.ModeSticky, os.Geteuid(), ""},
		{0o777, os.Geteuid(), "any user can replace it, since %s is writable by all; use a folder of the collector's user"},
		{0o770, os.Geteuid(), "any member of the group of %s can replace it; use a folder that only the collector's user can write to"},
		{0o777 | fs.ModeSticky, stranger, "user 4711 can replace it, who owns %s; use a folder of the collector's user"},
	} {
		if test.uid != os.Geteuid() && os.Geteuid() != 0 {
			continue
		}
		path := folder(t, filepath.Join(dir, strconv.Itoa(i)), test.mode, test.uid)
		want := test.want
		if want != "" {
			want = fmt.Sprintf(want, path)
		}
		assert.Equal(t, want, exposure(path+"/s"))
	}
}

// A socket that was replaced before its mode is set must not lead to another file.
func TestModeIsSetOnTheOwnSocketOnly(t *testing.T) {
	dir := threadtest.SocketDir(t)
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "s")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink(file, link))
	require.ErrorContains(t, setSocketMode(link, 0o666), "was replaced")
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
}
