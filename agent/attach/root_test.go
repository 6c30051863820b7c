// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package attach

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/weft-otel/weft/internal/threadtest"
)

// target is a process whose root is a folder of the test.
type target struct {
	*process
	path string // of its root
}

// processIn returns this process, with another root. Nothing is in it but an empty /tmp.
func processIn(t *testing.T, path string) *target {
	t.Helper()
	require.NoError(t, os.Mkdir(path+"/tmp", 0o700))
	require.NoError(t, os.Chmod(path+"/tmp", 0o1777))
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	return &target{
		process: &process{pid: os.Getpid(), nspid: 7, root: rootDir{fd: fd}, uid: os.Getuid(), gid: os.Getgid()},
		path:    path,
	}
}

func (p *target) tmp(t *testing.T) *directory {
	t.Helper()
	dir, err := p.openTmp()
	require.NoError(t, err)
	t.Cleanup(dir.close)
	return dir
}

func TestLinksStayInTheRoot(t *testing.T) {
	outside := t.TempDir()
	for name, c := range map[string]struct{ link, leads, problem string }{
		"absolute":             {link: "/var/tmp", leads: "/var/tmp"},
		"relative":             {link: "var/tmp", leads: "/var/tmp"},
		"absolute to the host": {link: outside, problem: "cannot open"},
		"above the root":       {link: "../../../../../../var/tmp", leads: "/var/tmp"},
		"the host by ..":       {link: "../../../../../../.." + outside, problem: "cannot open"},
		"dangling":             {link: "/none", problem: "no such file"},
		"loop":                 {link: "/tmp", problem: "too many levels"},
		"magic link":           {link: "/proc/self/cwd", problem: "no such file"},
		"chain":                {link: "/etc/../a/b", leads: "/var/tmp"},
		"file":                 {link: "/file", problem: "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			p := processIn(t, t.TempDir())
			require.NoError(t, os.MkdirAll(p.path+"/var/tmp", 0o700))
			require.NoError(t, os.MkdirAll(p.path+"/etc", 0o700))
			require.NoError(t, os.MkdirAll(p.path+"/a", 0o700))
			require.NoError(t, os.Symlink("../../../var/tmp", p.path+"/a/b"))
			require.NoError(t, os.WriteFile(p.path+"/file", nil, 0o600))
			require.NoError(t, os.Remove(p.path+"/tmp"))
			require.NoError(t, os.Symlink(c.link, p.path+"/tmp"))
			dir, err := p.openTmp()
			if c.problem != "" {
				require.ErrorContains(t, err, c.problem)
				return
			}
			require.NoError(t, err)
			defer dir.close()
			f, err := dir.create("x", 0o600)
			require.NoError(t, err)
			require.NoError(t, f.Close())
			assert.FileExists(t, p.path+c.leads+"/x")
		})
	}
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// The root of a process has /proc in it, whose links lead anywhere.
func TestMagicLinksAreRefused(t *testing.T) {
	fd, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	defer func() { _ = unix.Close(fd) }()
	_, err = rootDir{fd: fd}.open("/proc/self/cwd", unix.O_PATH|unix.O_DIRECTORY)
	require.ErrorIs(t, err, unix.ELOOP)
}

// A container that swaps /tmp all the time gains nothing: each file is in a folder that it owns.
func TestSwappedTmp(t *testing.T) {
	p := processIn(t, t.TempDir())
	outside := t.TempDir()
	require.NoError(t, os.Remove(p.path+"/tmp"))
	require.NoError(t, os.MkdirAll(p.path+"/var/tmp", 0o700))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		for i := 0; ctx.Err() == nil; i++ {
			to := []string{"/var/tmp", outside, "../../../../../../../.." + outside, "/tmp"}[i%4]
			if err := errors.Join(os.Symlink(to, p.path+"/next"), os.Rename(p.path+"/next", p.path+"/tmp")); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	created := 0
	for try := 0; try < 1_000_000 && created < 100; try++ {
		dir, err := p.openTmp()
		if err != nil {
			continue
		}
		f, err := dir.create("x", 0o600)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.NoError(t, dir.remove("x"))
		dir.close()
		created++
	}
	cancel()
	require.NoError(t, <-ended)
	assert.Equal(t, 100, created)
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestOldKernel(t *testing.T) {
	p := processIn(t, t.TempDir())
	p.root.plain = true
	_, err := p.openTmp()
	require.ErrorIs(t, err, errOldKernel)
	p.root.ours = true
	p.tmp(t)
}

// whatIsThere puts something in place of a file.
func whatIsThere(t *testing.T) map[string]func(path string) error {
	t.Helper()
	victim := filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(victim, []byte("precious"), 0o600))
	t.Cleanup(func() {
		content, err := os.ReadFile(victim)
		require.NoError(t, err)
		assert.Equal(t, "precious", string(content))
	})
	return map[string]func(path string) error{
		"link to a file": func(path string) error { return os.Symlink(victim, path) },
		"dangling link":  func(path string) error { return os.Symlink(victim+".none", path) },
		"hard link":      func(path string) error { return os.Link(victim, path) },
		"FIFO":           func(path string) error { return unix.Mkfifo(path, 0o600) },
		"folder":         func(path string) error { return os.Mkdir(path, 0o700) },
		"file":           func(path string) error { return os.WriteFile(path, []byte("precious"), 0o600) },
		"socket": func(path string) error {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err == nil {
				err = errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: path}), unix.Close(fd))
			}
			return err
		},
	}
}

func TestCreateNeedsAFreeName(t *testing.T) {
	for name, place := range whatIsThere(t) {
		p := processIn(t, threadtest.SocketDir(t))
		require.NoError(t, place(p.path+"/tmp/x"), name)
		_, err := p.tmp(t).create("x", 0o600)
		require.ErrorIs(t, err, os.ErrExist, name)
	}
}

// Whatever has the name of the copy: the JVM gets the library, and nothing else is touched.
func TestCopyOfTheLibrary(t *testing.T) {
	file := filepath.Join(t.TempDir(), "libweft.so")
	require.NoError(t, os.WriteFile(file, []byte("precious"[:7]+"!"), 0o600))
	lib, err := openLibrary(file)
	require.NoError(t, err)
	defer lib.close()
	p := processIn(t, threadtest.SocketDir(t))
	usual, err := p.provide(p.tmp(t), lib)
	require.NoError(t, err)
	again, err := p.provide(p.tmp(t), lib)
	require.NoError(t, err)
	assert.Equal(t, usual, again)
	for name, place := range whatIsThere(t) {
		p := processIn(t, threadtest.SocketDir(t))
		require.NoError(t, place(p.path+usual), name)
		other, err := p.provide(p.tmp(t), lib)
		require.NoError(t, err, name)
		assert.NotEqual(t, usual, other, name)
		content, err := os.ReadFile(p.path + other)
		require.NoError(t, err)
		assert.Equal(t, "preciou!", string(content), name)
	}
}

func TestLibraryThatTheJVMSees(t *testing.T) {
	p := processIn(t, t.TempDir())
	require.NoError(t, os.WriteFile(p.path+"/libweft.so", []byte("x"), 0o600))
	lib, err := openLibrary(p.path + "/libweft.so")
	require.NoError(t, err)
	defer lib.close()
	assert.False(t, p.sees(lib))
	lib.path = "/libweft.so" // as if both had the same path
	assert.True(t, p.sees(lib))
	require.NoError(t, os.Rename(p.path+"/libweft.so", p.path+"/other"))
	require.NoError(t, unix.Mkfifo(p.path+"/libweft.so", 0o600))
	assert.False(t, p.sees(lib))
	_, err = openLibrary(p.path)
	require.ErrorContains(t, err, "not a regular file")
}

func TestSocketsOfOthers(t *testing.T) {
	for name, place := range whatIsThere(t) {
		p := processIn(t, threadtest.SocketDir(t))
		require.NoError(t, place(p.path+"/tmp/"+p.socket()), name)
		assert.Equal(t, name == "socket", p.listens(p.tmp(t)), name)
		_, err := p.dial(p.tmp(t))
		require.Error(t, err, name)
	}
	p := processIn(t, threadtest.SocketDir(t))
	listener, err := net.Listen("unix", p.path+"/tmp/"+p.socket()) //nolint:noctx // it does not wait
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	conn, err := p.dial(p.tmp(t))
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	p.pid++
	_, err = p.dial(p.tmp(t))
	require.ErrorContains(t, err, "not the JVM")
	p.uid++
	assert.False(t, p.listens(p.tmp(t)))
}

func TestReportIsBounded(t *testing.T) {
	f, err := processIn(t, t.TempDir()).tmp(t).create("x", 0o600)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	_, err = f.WriteString(strings.Repeat("x", maxReport))
	require.NoError(t, err)
	_, err = readReport(f)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(1<<40))
	_, err = readReport(f)
	require.ErrorContains(t, err, "more than 65536 bytes")
}
