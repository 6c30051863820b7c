// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/agent/attach"
)

// listed returns what attach.ListAgents says about a process.
func listed(t *testing.T, pid int) attach.JVM {
	t.Helper()
	all, err := attach.ListAgents(t.Context())
	require.NoError(t, err)
	at := slices.IndexFunc(all, func(j attach.JVM) bool { return j.PID == pid })
	require.GreaterOrEqual(t, at, 0, "%d is not among %v", pid, all)
	return all[at]
}

// waitingJVM starts a program that is ready, and waits.
func waitingJVM(t *testing.T, j jdk, flags ...string) int {
	t.Helper()
	p := start(t, nil, filepath.Join(j.Home, "bin", "java"), append(flags, "-cp", classes, "LockNames", "attach")...)
	poll(t, "the program is ready", func() bool { return len(p.outLines()) == 1 })
	return p.cmd.Process.Pid
}

// agentsIn returns the mapped files that are copies of the agent.
func agentsIn(t *testing.T, pid int) []string {
	t.Helper()
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/maps")
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	var found []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if _, path, ok := strings.Cut(lines.Text(), "/"); ok && strings.Contains(filepath.Base(path), "libweft") {
			found = append(found, "/"+strings.TrimSuffix(path, " (deleted)"))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// copyOfAgent returns the path of a copy of the agent.
func copyOfAgent(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(built("libweft.so"))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "libweft-copy.so")
	require.NoError(t, os.WriteFile(path, content, 0o700))
	return path
}

// withTime bounds what talks to a JVM.
func withTime(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// TestListAndAsk follows one JVM through the life of the agent in it.
func TestListAndAsk(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		ctx, pid := withTime(t), waitingJVM(t, j)
		got := listed(t, pid)
		assert.Equal(t, "LockNames", got.MainClass)
		assert.True(t, strings.HasPrefix(got.Version, strconv.Itoa(j.Major)), got.Version)
		assert.WithinRange(t, got.Start, time.Now().Add(-patience), time.Now())
		require.NoError(t, got.Attach)
		require.NoError(t, got.Unknown)
		assert.False(t, got.Agent.Loaded())
		_, err := attach.Ask(ctx, pid)
		require.ErrorIs(t, err, attach.ErrNotLoaded)
		_, err = attach.Detach(ctx, pid)
		require.ErrorIs(t, err, attach.ErrNotLoaded)
		_, err = attach.Attach(ctx, attach.Request{PID: pid})
		require.ErrorIs(t, err, attach.ErrNotLoaded)

		endpoint := "unix://" + filepath.Join(t.TempDir(), "weft.sock")
		_, err = attach.Attach(ctx, attach.Request{PID: pid, Library: built("libweft.so"), Options: []string{"endpoint=" + endpoint, "depth=7"}})
		require.NoError(t, err)
		// Neither no library nor another one is loaded.
		_, err = attach.Attach(ctx, attach.Request{PID: pid, Options: []string{"wait-depth=5"}})
		require.NoError(t, err)
		result, err := attach.Attach(ctx, attach.Request{PID: pid, Library: copyOfAgent(t), Options: []string{"park-depth=9"}})
		require.NoError(t, err)
		assert.Subset(t, result.Options, []string{"depth=7", "wait-depth=5", "park-depth=9"})
		assert.Equal(t, []string{built("libweft.so")}, agentsIn(t, pid))

		asked, err := attach.Ask(ctx, pid)
		require.NoError(t, err)
		assert.Equal(t, result.Options, asked.Options)
		assert.Contains(t, asked.Connection, "not connected to "+endpoint)
		got = listed(t, pid)
		assert.Equal(t, built("libweft.so"), got.Agent.Library)
		require.NoError(t, got.Agent.Err)
		assert.Equal(t, asked, got.Agent.Report)

		_, err = attach.Detach(ctx, pid)
		require.NoError(t, err)
		for range 2 { // a question begins no session
			asked, err = attach.Ask(ctx, pid)
			require.NoError(t, err)
			assert.Empty(t, asked.Connection)
			assert.Empty(t, asked.Options)
		}
		got = listed(t, pid)
		assert.True(t, got.Agent.Loaded())
		assert.Empty(t, got.Agent.Report.Connection)
	})
}

// TestAgentWhoseFileIsGone: an upgrade replaces the file of a loaded agent.
func TestAgentWhoseFileIsGone(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		ctx, pid, library := withTime(t), waitingJVM(t, j), copyOfAgent(t)
		_, err := attach.Attach(ctx, attach.Request{PID: pid, Library: library, Options: []string{"depth=7"}})
		require.NoError(t, err)
		require.NoError(t, os.Remove(library))
		asked, err := attach.Ask(ctx, pid)
		require.NoError(t, err)
		assert.Contains(t, asked.Options, "depth=7")
		require.NoError(t, os.Rename(copyOfAgent(t), library))
		result, err := attach.Attach(ctx, attach.Request{PID: pid, Library: library, Options: []string{"pause=on"}})
		require.NoError(t, err)
		assert.Subset(t, result.Options, []string{"depth=7", "pause=on"})
		_, err = attach.Detach(ctx, pid)
		require.NoError(t, err)
		assert.Equal(t, []string{library}, agentsIn(t, pid))
	})
}

// TestListOfJVMsThatHide lists JVMs without counters, that cannot be attached to, and that began with the agent.
func TestListOfJVMsThatHide(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		pid := waitingJVM(t, j, "-XX:-UsePerfData", "-XX:+DisableAttachMechanism", "-agentpath:"+built("libweft.so"))
		leaveSocket(t, pid)
		got := listed(t, pid)
		assert.Equal(t, "LockNames", got.MainClass)
		assert.True(t, strings.HasPrefix(got.Version, strconv.Itoa(j.Major)), got.Version)
		require.ErrorContains(t, got.Attach, "-XX:+DisableAttachMechanism")
		assert.Equal(t, built("libweft.so"), got.Agent.Library)
		assert.Equal(t, got.Attach, got.Agent.Err)
		_, err := attach.Ask(withTime(t), pid)
		require.ErrorContains(t, err, "-XX:+DisableAttachMechanism")
	})
}

// TestAttachingDisabledElsewhere attaches to JVMs that have -XX:+DisableAttachMechanism from a variable or a file: a signal would make them
// print a thread dump.
func TestAttachingDisabledElsewhere(t *testing.T) {
	const flag = "-XX:+DisableAttachMechanism"
	file := filepath.Join(t.TempDir(), "options")
	require.NoError(t, os.WriteFile(file, []byte("-Xmx64m\n"+flag+"\n"), 0o600))
	tests := map[string]struct{ env, args []string }{"file": {args: []string{"@" + file}}}
	for _, variable := range []string{"JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"} {
		env := []string{variable + "=-Xmx64m " + flag}
		tests[variable] = struct{ env, args []string }{env: env}
		tests[variable+" without counters"] = struct{ env, args []string }{env, []string{"-XX:-UsePerfData"}}
	}
	onEachJDK(t, func(t *testing.T, j jdk) {
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				p := start(t, test.env, filepath.Join(j.Home, "bin", "java"), append(test.args, "-cp", classes, "LockNames", "attach")...)
				poll(t, "the program is ready", func() bool { return len(p.outLines()) == 1 })
				pid := p.cmd.Process.Pid
				require.ErrorContains(t, listed(t, pid).Attach, flag)
				_, err := attach.Attach(withTime(t), attach.Request{PID: pid, Library: built("libweft.so")})
				require.ErrorContains(t, err, flag)
				assert.Len(t, p.outLines(), 1)
			})
		}
	})
}

// leaveSocket leaves what an earlier JVM with this process ID leaves when it is killed: its socket.
func leaveSocket(t *testing.T, pid int) {
	t.Helper()
	name := "/tmp/.java_pid" + strconv.Itoa(pid) // wherever TMPDIR is
	_ = os.Remove(name)                          // a JVM may really have left one
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: name})
	require.NoError(t, err)
	socket.SetUnlinkOnClose(false)
	require.NoError(t, socket.Close())
	t.Cleanup(func() { _ = os.Remove(name) })
}

// TestOtherJVMsAreLeftAlone attaches to one JVM, by process ID and by name: another one with an agent gets no request, which would start its
// attach listener.
func TestOtherJVMsAreLeftAlone(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		agent := built("libweft.so")
		other := waitingJVM(t, j, "-agentpath:"+agent+"=endpoint=unix://"+filepath.Join(t.TempDir(), "weft.sock"))
		pid := waitingJVM(t, j)
		weft := start(t, nil, built("weft"), "attach", "--no-wait", "--agent", agent, strconv.Itoa(pid), "endpoint=unix:///nowhere")
		require.Zero(t, weft.wait(t), "%v", weft.errLines())
		named := start(t, nil, built("weft"), "record", "LockNames") // both have that name
		require.Equal(t, 2, named.wait(t), "%v", named.errLines())
		assert.Contains(t, tasksOf(t, pid), "Attach Listener")
		assert.NotContains(t, tasksOf(t, other), "Attach Listener")
	})
}

// tasksOf returns the names of a process's threads.
func tasksOf(t *testing.T, pid int) (names []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/comm")
	require.NoError(t, err)
	for _, file := range files {
		if name, err := os.ReadFile(file); err == nil { // otherwise the thread has ended
			names = append(names, strings.TrimSpace(string(name)))
		}
	}
	return names
}
