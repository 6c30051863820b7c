// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package attach

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/weft-otel/weft/internal/threadtest/await"
)

// mapped maps a new file into this process.
func mapped(t *testing.T, path string, content []byte, rights int) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, content, 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	memory, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), rights, unix.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unix.Munmap(memory) })
}

// asJVM makes this process look like a JVM: HotSpot is mapped.
func asJVM(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	mapped(t, home+"/lib/server/libjvm.so", program(elf.EM_AARCH64, ""), unix.PROT_READ)
	require.NoError(t, os.WriteFile(home+"/release", []byte("JAVA_VERSION=\"21.0.1\"\n"), 0o600))
	return home
}

func described(t *testing.T) JVM {
	t.Helper()
	j, ok := describe(os.Getpid())
	require.True(t, ok)
	assert.Equal(t, os.Getpid(), j.PID)
	return j
}

func TestOtherProcessesAreNotListed(t *testing.T) {
	for _, pid := range []int{os.Getpid(), sleeping(t).Process.Pid, 1 << 30} {
		_, ok := describe(pid)
		assert.False(t, ok, pid)
	}
}

func TestJVMWithoutCounters(t *testing.T) {
	home := asJVM(t)
	j := described(t)
	assert.Equal(t, filepath.Base(os.Args[0]), j.MainClass)
	assert.Equal(t, "21.0.1", j.Version)
	assert.Equal(t, userName(os.Getuid()), j.User)
	assert.False(t, j.Agent.Loaded())
	require.NoError(t, j.Attach)
	require.NoError(t, j.Unknown)
	assert.WithinRange(t, j.Start, time.Now().Add(-24*time.Hour), time.Now())
	require.NoError(t, os.Remove(home+"/release"))
	require.ErrorContains(t, described(t).Unknown, "-XX:-UsePerfData")
}

func TestJVMWithCounters(t *testing.T) {
	home := asJVM(t)
	file := filepath.Join(home, "hsperfdata_alice", strconv.Itoa(os.Getpid()))
	data := perfData(binary.LittleEndian, counter{javaVersion, "25.0.1"}, counter{javaCommand, "com.acme.Main x"},
		counter{vmArguments, "-XX:-EnableDynamicAgentLoading -Dx"})
	mapped(t, file, data, unix.PROT_READ)
	mapped(t, home+"/libweft-1-2.so", []byte("x"), unix.PROT_READ|unix.PROT_EXEC)
	j := described(t)
	assert.Equal(t, "com.acme.Main", j.MainClass)
	assert.Equal(t, "25.0.1", j.Version)
	assert.Equal(t, home+"/libweft-1-2.so", j.Agent.Library)
	require.ErrorContains(t, j.Attach, "-XX:-EnableDynamicAgentLoading")

	// Whatever has the file's name by now, the version comes from elsewhere.
	for name, place := range whatIsThere(t) {
		require.NoError(t, os.Remove(file))
		if name == "socket" {
			require.NoError(t, os.WriteFile(file, data[:40], 0o600)) // the path is too long for one
		} else {
			require.NoError(t, place(file), name)
		}
		assert.Equal(t, "21.0.1", described(t).Version, name)
	}
}

func TestListIsOrdered(t *testing.T) {
	asJVM(t)
	all, err := List(t.Context())
	require.NoError(t, err)
	assert.True(t, slices.IsSortedFunc(all, func(a, b JVM) int { return a.PID - b.PID }))
	assert.True(t, slices.ContainsFunc(all, func(j JVM) bool { return j.PID == os.Getpid() }))
}

func TestPlatformOfJVM(t *testing.T) {
	asJVM(t)
	p, err := openProcess(os.Getpid())
	require.NoError(t, err)
	defer p.close()
	require.NoError(t, p.inspect())
	p.images.libc = musl
	got, err := p.platform()
	require.NoError(t, err)
	assert.Equal(t, Platform{Machine: aarch64, Libc: musl}, got)
	p.images.jvm.path += ".old" // then the program decides
	got, err = p.platform()
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"amd64": x8664, "arm64": aarch64}[runtime.GOARCH], got.Machine)
	p.images.libc = ""
	_, err = p.platform()
	require.ErrorContains(t, err, "neither glibc nor musl")
	_, err = PlatformOf(sleeping(t).Process.Pid)
	require.ErrorIs(t, err, ErrNotJVM)
}

// What cannot be read of a JVM of another user is stated.
func TestJVMOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	java := exec.CommandContext(t.Context(), "sleep", "1000")
	java.Args[0] = "/jdk/bin/java"
	require.NoError(t, java.Start())
	t.Cleanup(func() { _ = java.Process.Kill(); _ = java.Wait() })
	await.Until(t, "it runs sleep", func() bool {
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(java.Process.Pid) + "/cmdline")
		return len(parseCommand(line)) == 2
	})
	_, ok := describe(java.Process.Pid)
	assert.False(t, ok, "root sees that it is not a JVM")
	seen := make(chan JVM, 1)
	onOwnThread(func() {
		defer close(seen)
		if err := (&process{uid: 65534, gid: 65534}).assume(); err != nil {
			return
		}
		if j, ok := describe(java.Process.Pid); ok {
			seen <- j
		}
	})
	j, ok := <-seen
	require.True(t, ok)
	assert.Equal(t, "1000", j.MainClass) // after the options, of which there are none
	assert.Empty(t, j.Version)
	require.ErrorIs(t, j.Unknown, ErrPermission)
	require.ErrorContains(t, j.Attach, "run this as that user or as root")
}

func TestAskAndDetachNeedTheAgent(t *testing.T) {
	asJVM(t)
	_, err := Ask(t.Context(), os.Getpid())
	require.ErrorIs(t, err, ErrNotLoaded)
	_, err = Detach(t.Context(), os.Getpid())
	require.ErrorIs(t, err, ErrNotLoaded)
	_, err = Attach(t.Context(), Request{PID: os.Getpid()})
	require.ErrorIs(t, err, ErrNotLoaded)
	require.ErrorContains(t, err, "specify the path of libweft.so")
	_, err = Ask(t.Context(), 1<<30)
	require.ErrorIs(t, err, ErrNoProcess)
}

func TestStartTicks(t *testing.T) {
	const stat = "1 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20"
	got, err := startTicks(stat)
	require.NoError(t, err)
	assert.EqualValues(t, 4711, got)
	for _, bad := range []string{"", "1 (a) S 1", "1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x"} {
		_, err := startTicks(bad)
		require.Error(t, err, bad)
	}
}

func TestPathInTheRoot(t *testing.T) {
	for _, c := range []struct{ root, path, want string }{
		{"/", "/a/b", "/a/b"},
		{"", "/a/b", "/a/b"},
		{"/srv/x", "/srv/x/tmp/libweft.so", "/tmp/libweft.so"},
		{"/srv/x", "/srv/xy/libweft.so", "/srv/xy/libweft.so"},
	} {
		assert.Equal(t, c.want, (&process{rootPath: c.root}).inside(c.path))
	}
}
