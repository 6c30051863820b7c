// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/agent/attach"
)

// TestKilledWeft kills commands while their agent records, and interrupts one before the JVM has loaded the agent. The agent then stops by itself.
func TestKilledWeft(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		agent, patient := "--agent="+built("libweft.so"), "--timeout="+patience.String()
		// Commands stop the agent after times that are longer than a test should last.
		killed := map[string][]string{
			"top":    {"top", agent, patient, "--once", "--window=1h", "give-up=1s"},
			"view":   {"view", agent, patient, "--no-browser", "give-up=1s"},
			"record": {"record", agent, patient, "--duration=1h", "--output=" + filepath.Join(t.TempDir(), "x.weft"), "duration=2s"},
		}
		for name, args := range killed {
			t.Run(name, func(t *testing.T) {
				pid := waitingJVM(t, j)
				weft := start(t, nil, built("weft"), slices.Insert(slices.Clone(args), 1, strconv.Itoa(pid))...)
				untilAgent(t, pid, "records", func(a *attach.Result) bool {
					require.True(t, weft.running(), "weft ended: %v", weft.errLines())
					return a.Connection != ""
				})
				require.NoError(t, weft.cmd.Process.Kill())
				untilStopped(t, pid)
			})
		}
		t.Run("load after the end", func(t *testing.T) {
			pid := waitingJVM(t, j)
			// From here on, the JVM takes requests without a signal.
			start(t, nil, filepath.Join(j.Home, "bin", "jcmd"), strconv.Itoa(pid), "VM.version").wait(t)
			require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
			weft := start(t, nil, built("weft"), "top", strconv.Itoa(pid), agent, "--once", "--timeout=5s", "give-up=1s")
			require.Equal(t, 1, weft.wait(t))
			require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
			poll(t, "the JVM loads the agent", func() bool { return len(agentsIn(t, pid)) > 0 })
			untilStopped(t, pid)
		})
	})
}

// untilAgent waits until an agent reports what is wanted.
func untilAgent(t *testing.T, pid int, what string, wanted func(*attach.Result) bool) {
	t.Helper()
	poll(t, "the agent "+what, func() bool {
		a, err := attach.Ask(t.Context(), pid)
		return wanted(&a) && err == nil
	})
}

func untilStopped(t *testing.T, pid int) {
	t.Helper()
	untilAgent(t, pid, "stops by itself", func(a *attach.Result) bool { return a.Connection == "" })
}
