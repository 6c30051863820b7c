// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package attach

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/weft-otel/weft/internal/threadtest"
)

// What a killed program has left is removed, what another one uses and what is not ours stays. The kernel ends locks and sockets with their
// program; here they are closed.
func TestLeftovers(t *testing.T) {
	p := processIn(t, threadtest.SocketDir(t))
	dir := p.tmp(t)
	var used, left []string
	for _, suffix := range []string{requestSuffix, recordingSuffix} {
		for range 2 {
			f, name, err := dir.createOurs(suffix)
			require.NoError(t, err)
			t.Cleanup(func() { _ = f.Close() })
			if len(used) == len(left) {
				used = append(used, name)
				continue
			}
			left = append(left, name)
			require.NoError(t, f.Close())
		}
	}
	for range 2 {
		name := ourName(socketSuffix)
		listener, err := dir.listen(name)
		require.NoError(t, err)
		t.Cleanup(func() { _ = listener.Close() })
		if len(used) == len(left) {
			used = append(used, name)
			continue
		}
		left = append(left, name)
		require.NoError(t, listener.Close())
	}
	// A socket that does not listen yet.
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	used = append(used, ourName(socketSuffix))
	require.NoError(t, unix.Bind(fd, &unix.SockaddrUnix{Name: p.path + "/tmp/" + used[len(used)-1]}))
	// Files of others, and a link to one.
	for _, name := range []string{".weft-mine.weft", "x.weft", ".weft-" + strings.Repeat("A", 26) + ".jfr"} {
		used = append(used, name)
		require.NoError(t, os.WriteFile(p.path+"/tmp/"+name, nil, 0o600))
	}
	used = append(used, ".weft-"+strings.Repeat("B", 26)+recordingSuffix)
	require.NoError(t, os.Symlink("x.weft", p.path+"/tmp/"+used[len(used)-1]))

	require.Len(t, left, 3)
	assert.ElementsMatch(t, slices.Concat(used, left), namesIn(t, p.path+"/tmp"))
	dir.removeLeftovers()
	assert.ElementsMatch(t, used, namesIn(t, p.path+"/tmp"))
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
