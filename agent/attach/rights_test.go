// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package attach

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/weft-otel/weft/internal/threadtest"
)

// unprivileged is the ID of a user who owns nothing.
const unprivileged = 65534

// as returns a target whose user is another one, which needs root.
func as(t *testing.T, uid int) *target {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	p := processIn(t, threadtest.SocketDir(t))
	require.NoError(t, os.Chmod(p.path, 0o755))
	p.uid, p.gid = uid, uid
	return p
}

// do calls fn with the rights of the target's user.
func (p *target) do(t *testing.T, fn func(dir *directory) error) error {
	t.Helper()
	_, err := p.asUser(t.Context(), func() (Result, error) {
		dir, err := p.openTmp()
		if err != nil {
			return Result{}, err
		}
		defer dir.close()
		return Result{}, fn(dir)
	})
	return err
}

func create(dir *directory) error {
	f, err := dir.create("x", 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func TestFilesBelongToTheUser(t *testing.T) {
	p := as(t, unprivileged)
	require.NoError(t, p.do(t, create))
	var stat unix.Stat_t
	require.NoError(t, unix.Lstat(p.path+"/tmp/x", &stat))
	assert.Equal(t, []uint32{unprivileged, unprivileged, 0o100600}, []uint32{stat.Uid, stat.Gid, stat.Mode})
	assert.Equal(t, 0, os.Geteuid(), "the other threads are still root")
}

// The main thread outlives what it ran, and its user is that of the process for all others.
func TestMainThreadKeepsItsUser(t *testing.T) {
	const threads = 100 // more than are idle, so that each of those is used
	begun, all := make(chan int, threads), make(chan struct{})
	for range threads {
		onOwnThread(func() {
			begun <- unix.Gettid()
			<-all
		})
	}
	for range threads {
		assert.NotEqual(t, os.Getpid(), <-begun)
	}
	close(all)
}

func TestRootCreatesOnlyWhatTheUserCould(t *testing.T) {
	for name, uid := range map[string]int{"a user": unprivileged, "root without capabilities": 0} {
		t.Run(name, func(t *testing.T) {
			p := as(t, uid)
			require.NoError(t, os.Chown(p.path+"/tmp", 1, 1))
			require.NoError(t, os.Chmod(p.path+"/tmp", 0o700))
			require.ErrorIs(t, p.do(t, create), os.ErrPermission)
			require.NoError(t, os.Chmod(p.path+"/tmp", 0o770|os.ModeSticky))
			require.NoError(t, os.WriteFile(p.path+"/tmp/y", nil, 0o600))
			require.NoError(t, os.Chown(p.path+"/tmp/y", 2, 2))
			remove := func(dir *directory) error { return dir.remove("y") }
			require.ErrorIs(t, p.do(t, remove), os.ErrPermission)
			p.groups = []int{4, 1}
			require.NoError(t, p.do(t, create))
			require.ErrorIs(t, p.do(t, remove), os.ErrPermission, "the file of another user")
		})
	}
}

// A link of the user leads to a folder of root in the container.
func TestLinkToAFolderOfRoot(t *testing.T) {
	p := as(t, unprivileged)
	require.NoError(t, os.Remove(p.path+"/tmp"))
	require.NoError(t, os.Mkdir(p.path+"/etc", 0o755))
	require.NoError(t, os.Symlink("/etc", p.path+"/tmp"))
	require.ErrorIs(t, p.do(t, create), os.ErrPermission)
}

// The library may be in a folder that only root can read.
func TestLibraryOfRoot(t *testing.T) {
	p := as(t, unprivileged)
	require.NoError(t, os.Mkdir(p.path+"/private", 0o700))
	file := filepath.Join(p.path, "private", "libweft.so")
	require.NoError(t, os.WriteFile(file, []byte("content"), 0o600))
	lib, err := openLibrary(file)
	require.NoError(t, err)
	defer lib.close()
	lib.path = "/private/libweft.so" // as the process sees it
	var path string
	require.NoError(t, p.do(t, func(dir *directory) error {
		var err error
		path, err = p.provide(dir, lib)
		return err
	}))
	content, err := os.ReadFile(p.path + path)
	require.NoError(t, err)
	assert.Equal(t, "content", string(content))
}

// Old JVMs accept their own user only.
func TestConnectsAsTheUser(t *testing.T) {
	p := as(t, unprivileged)
	name := p.path + "/tmp/" + p.socket()
	listener, err := net.Listen("unix", name) //nolint:noctx // it does not wait
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	require.NoError(t, os.Chown(name, unprivileged, unprivileged))
	require.NoError(t, p.do(t, func(dir *directory) error {
		conn, err := p.dial(dir)
		if err != nil {
			return err
		}
		return conn.Close()
	}))
	conn, err := listener.Accept()
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	socket, ok := conn.(*net.UnixConn)
	require.True(t, ok)
	raw, err := socket.SyscallConn()
	require.NoError(t, err)
	var peer *unix.Ucred
	require.NoError(t, raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }))
	require.NoError(t, err)
	assert.Equal(t, []uint32{unprivileged, unprivileged}, []uint32{peer.Uid, peer.Gid})
}

// A file system of the JVM's user may never answer.
func TestWaitIsBoundedIfAFileSystemHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan struct{})
		defer close(answer)
		p := &process{uid: os.Getuid(), gid: os.Getgid()}
		_, err := p.asUser(ctx, func() (Result, error) {
			cancel()
			<-answer
			return Result{}, nil
		})
		require.ErrorIs(t, err, context.Canceled)
	})
}
