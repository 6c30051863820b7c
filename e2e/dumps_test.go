// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRecordWithoutAgent has a JVM that loads no agent: weft record offers thread dumps, which show its deadlock.
func TestRecordWithoutAgent(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		jvm := start(t, nil, filepath.Join(j.Home, "bin", "java"), "-XX:-EnableDynamicAgentLoading", "-cp", classes, "Deadlock")
		poll(t, "two threads are deadlocked", func() bool { return len(jvm.outLines()) > 0 })
		pid := strconv.Itoa(jvm.cmd.Process.Pid)
		refused := start(t, nil, built("weft"), "record", pid, "--agent", built("libweft.so"), "--timeout", patience.String())
		require.Equal(t, 1, refused.wait(t), "%v", refused.errLines())
		said := strings.Join(refused.errLines(), "\n")
		assert.Contains(t, said, "-XX:+EnableDynamicAgentLoading")
		assert.Contains(t, said, "thread dumps need no agent: weft record "+pid+" --dumps 3")

		file := filepath.Join(t.TempDir(), "dumps.txt")
		dumps := start(t, nil, built("weft"), "record", pid, "--dumps", "3", "--interval", "1ms", "--timeout", patience.String(), "-o", file)
		require.Zero(t, dumps.wait(t), "%v", dumps.errLines())
		said = strings.Join(dumps.outLines(), "\n")
		assert.Contains(t, said, "2 threads deadlocked")
		assert.Contains(t, said, "3 thread dumps")
		assert.Contains(t, strings.Join(dumps.errLines(), "\n"), "See more with: weft view "+file)
		assert.Empty(t, agentsIn(t, jvm.cmd.Process.Pid))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, 3, strings.Count(string(text), "\nFull thread dump "))
		assert.Equal(t, 3, strings.Count(string(text), pid+":\n"))
	})
}
