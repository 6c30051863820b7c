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
	root := threadtest.SocketDir(t)
	require.NoError(t, os.Mkdir(root+"/tmp", 0o700))
	p := &process{pid: 1, nspid: 1, root: root, uid: os.Getuid(), gid: os.Getgid()}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	defer func() { _ = syscall.Close(fd) }()
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: p.socket()}))
	require.NoError(t, syscall.Listen(fd, 0))
	for range 100 {
		waiting, err := p.dial()
		if err != nil {
			require.ErrorIs(t, err, syscall.EAGAIN)
			break
		}
		t.Cleanup(func() { _ = waiting.Close() })
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = p.command(ctx, "load")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestParseStatus(t *testing.T) {
	p, err := parseStatus(4711, "Name:\tjava\nUid:\t1\t1000\t2\t3\nGid:\t1\t1001\t2\t3\nNSpid:\t4711\t12\t7\nSigCgt:\t2000000181005ccf\n")
	require.NoError(t, err)
	assert.Equal(t, &process{pid: 4711, nspid: 7, root: "/proc/4711/root", uid: 1000, gid: 1001, caught: 0x2000000181005ccf}, p)
	require.NoError(t, p.canSignal())
	p.caught = 0
	require.ErrorContains(t, p.canSignal(), "-Xrs")
	_, err = parseStatus(1, "Uid:\tx\n")
	require.ErrorContains(t, err, "Uid in /proc")
	_, err = parseStatus(1, "")
	require.ErrorContains(t, err, "no user")
}

func TestOtherProcessesAreRejected(t *testing.T) {
	_, err := Attach(t.Context(), Request{PID: 1 << 30, Library: "x"})
	require.ErrorIs(t, err, ErrNoProcess)
	_, err = Attach(t.Context(), Request{PID: os.Getpid(), Library: "x"})
	require.ErrorIs(t, err, ErrNotJVM)
	_, err = Attach(t.Context(), Request{PID: os.Getpid(), Options: []string{"a=b,c=d"}})
	require.ErrorContains(t, err, "without a comma")
}

// SIGQUIT would kill a process that does not handle it.
func TestProcessWithoutSIGQUITHandler(t *testing.T) {
	child := exec.CommandContext(t.Context(), "sleep", "1000")
	require.NoError(t, child.Start())
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	p, err := parseStatus(child.Process.Pid, readStatus(t, child.Process.Pid))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.ErrorContains(t, p.listen(ctx), "does not handle SIGQUIT")
	require.NoError(t, child.Process.Signal(syscall.Signal(0)))
}

func readStatus(t *testing.T, pid int) string {
	t.Helper()
	var status []byte
	require.Eventually(t, func() bool { // until it runs sleep
		status, _ = os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		return strings.Contains(string(status), "Name:\tsleep")
	}, time.Minute, time.Millisecond)
	return string(status)
}
