// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package attach

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadtest/await"
)

func TestParseReport(t *testing.T) {
	for report, want := range map[string]Result{
		"ok\n":                         {Options: []string{}},
		"ok some hooks are missing\n":  {Warning: "some hooks are missing", Options: []string{}},
		"ok\ndepth=3\npause=off\n":     {Options: []string{"depth=3", "pause=off"}},
		"ok\n# recording to /x\na=b\n": {Connection: "recording to /x", Options: []string{"a=b"}},
		"ok\n# to x\n# y\n# z\na=b\n":  {Connection: "to x", Notes: []string{"y", "z"}, Options: []string{"a=b"}},
	} {
		got, err := parseReport(report)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := parseReport("error option \"x\": unknown\n")
	var refused *AgentError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, `option "x": unknown`, refused.Message)
	_, err = parseReport("\x00")
	require.ErrorContains(t, err, "want ok or error")
}

func TestParseReply(t *testing.T) {
	for reply, want := range map[string]string{
		"0\nreturn code: 0\n":  "",
		"0\n0\n":               "",
		"0\nreturn code: -1\n": "the JVM could not load the agent: return code: -1",
		"":                     "the JVM closed the connection without an answer",
		"101\n":                "the JVM refused to load the agent (code 101)",
		"0\n/x.so: cannot open shared object file\nreally\n":                                      "could not load the agent: /x.so: cannot open shared object file; really",
		"0\nDynamic agent loading is not enabled. Use -XX:+EnableDynamicAgentLoading to launch\n": "start it with -XX:+EnableDynamicAgentLoading",
	} {
		err := checkReply(reply)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}

// A stopped JVM accepts no connection: when its queue is full, the context still bounds the wait.
func TestWaitIsBoundedIfQueueIsFull(t *testing.T) {
	p := processIn(t, threadtest.SocketDir(t))
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	defer func() { _ = syscall.Close(fd) }()
	dir := p.tmp(t)
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: p.path + "/tmp/" + p.socket()}))
	require.NoError(t, syscall.Listen(fd, 0))
	for range 100 {
		waiting, err := p.dial(dir)
		if err != nil {
			require.ErrorIs(t, err, syscall.EAGAIN)
			break
		}
		t.Cleanup(func() { _ = waiting.Close() })
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = p.command(ctx, dir, "load")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestParseStatus(t *testing.T) {
	p := &process{nspid: 4711, uid: -1, gid: -1}
	const status = "Name:\tjava\nUid:\t1\t1000\t2\t3\nGid:\t1\t1001\t2\t3\nGroups:\t4 24 \nNSpid:\t4711\t12\t7\nSigCgt:\t2000000181005ccf\n"
	require.NoError(t, p.parseStatus(status))
	assert.Equal(t, &process{nspid: 7, uid: 1000, gid: 1001, groups: []int{4, 24}, caught: 0x2000000181005ccf}, p)
	require.NoError(t, p.canSignal())
	p.caught = 0
	require.ErrorContains(t, p.canSignal(), "-Xrs")
	require.ErrorContains(t, p.parseStatus("Uid:\tx\n"), "Uid in /proc")
	require.ErrorContains(t, p.parseStatus("Groups:\t4 x\n"), "Groups in /proc")
	require.ErrorContains(t, (&process{uid: -1, gid: -1}).parseStatus(""), "no user")
}

func TestOptionsInEnvironment(t *testing.T) {
	const environment = "PATH=/bin\x00JAVA_TOOL_OPTIONS=-Da=b  -XX:+A\x00X_JAVA_OPTIONS=-Dx\x00_JAVA_OPTIONS=\x00JDK_JAVA_OPTIONS=@file\x00broken"
	assert.Equal(t, []string{"-Da=b", "-XX:+A", "@file"}, optionsIn([]byte(environment)))
	assert.Empty(t, optionsIn(nil))
}

func TestOtherProcessesAreRejected(t *testing.T) {
	_, err := Attach(t.Context(), Request{PID: 1 << 30, Library: "x"})
	require.ErrorIs(t, err, ErrNoProcess)
	_, err = Attach(t.Context(), Request{PID: os.Getpid(), Library: "x"})
	require.ErrorIs(t, err, ErrNotJVM)
	_, err = Attach(t.Context(), Request{PID: os.Getpid(), Options: []string{"a=" + strings.Repeat("x", maxRequest)}})
	require.ErrorContains(t, err, "the options have 16385 bytes, more than the limit of 16383")
	_, err = Attach(t.Context(), Request{PID: os.Getpid(), Options: []string{"a=b,c=d"}})
	require.ErrorContains(t, err, "without a comma")
}

// SIGQUIT would kill a process that does not handle it.
func TestProcessWithoutSIGQUITHandler(t *testing.T) {
	child := sleeping(t)
	p := opened(t, child.Process.Pid)
	require.ErrorIs(t, p.inspect(), ErrNotJVM) // it has read the status
	q := processIn(t, t.TempDir())
	q.proc, q.caught = p.proc, p.caught
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.ErrorContains(t, q.listen(ctx, q.tmp(t)), "does not handle SIGQUIT")
	require.NoError(t, p.signal(0))
}

// The folder in /proc stays that of the process: nothing else can be read or signalled through it.
func TestProcessThatHasEnded(t *testing.T) {
	child := sleeping(t)
	p := opened(t, child.Process.Pid)
	require.NoError(t, p.signal(0))
	require.NoError(t, p.signal(syscall.SIGKILL))
	require.Error(t, child.Wait())
	p.pid = os.Getpid() // as if another one had its ID
	require.ErrorIs(t, p.signal(syscall.SIGQUIT), ErrNoProcess)
	_, err := p.read("status")
	require.Error(t, err)
}

// sleeping starts a process that does nothing.
func sleeping(t *testing.T) *exec.Cmd {
	t.Helper()
	child := exec.CommandContext(t.Context(), "sleep", "1000")
	require.NoError(t, child.Start())
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	await.Until(t, "it runs sleep", func() bool {
		status, _ := os.ReadFile("/proc/" + strconv.Itoa(child.Process.Pid) + "/status")
		return strings.Contains(string(status), "Name:\tsleep")
	})
	return child
}

// opened returns a process of which nothing is known yet.
func opened(t *testing.T, pid int) *process {
	t.Helper()
	proc, err := os.Open("/proc/" + strconv.Itoa(pid))
	require.NoError(t, err)
	t.Cleanup(func() { _ = proc.Close() })
	return &process{pid: pid, nspid: pid, proc: proc, root: rootDir{fd: -1}}
}
