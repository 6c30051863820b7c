// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/viewapi"
)

// smokeHandoffs is how often the program of the smoke tests hands over its lock.
const smokeHandoffs = 50

// TestSmoke runs a program under the agent with a collector: the spans and the page have its threads, its lock and its handoffs. All checks
// are of names and counts, which are the same on every machine, and all addresses are those that the operating system assigns.
func TestSmoke(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		dir := threadtest.SocketDir(t)
		endpoint := "unix://" + filepath.Join(dir, "weft.sock")
		env := []string{"WEFT_ENDPOINT=" + endpoint, "WEFT_OUT=" + dir, "WEFT_HEALTH=localhost:0", "WEFT_PAGE=localhost:0"}
		c := &collector{endpoint: endpoint, out: dir}
		// With SIGINT ignored, the program handles it only when it is ready; it handles SIGTERM from the same moment on.
		c.process = start(t, env, "/bin/sh", "-c", `trap "" INT; exec "$0" "$@"`, built("weft-collector"), "--config", filepath.Join(root, "config", "all-in-one.yaml"))
		serving := regexp.MustCompile(`Serving the page.*"url": ?"http://([^/"]+)`)
		poll(t, "the collector is ready", func() bool {
			require.True(t, c.running(), "the collector ended")
			found := serving.FindStringSubmatch(strings.Join(c.errLines(), "\n"))
			if found == nil {
				return false
			}
			c.page = found[1]
			return c.catches(syscall.SIGINT)
		})

		var truth spantest.PingPong
		runJava(t, j, endpoint, "smoke", &truth, "PingPong", strconv.Itoa(smokeHandoffs))
		require.Equal(t, smokeHandoffs, truth.Handoffs)
		c.waitForCut(t, "smoke", "end")
		checkSmokePage(t, c)
		o := c.finish(t, "smoke")
		spantest.CheckStructure(t, o)
		spantest.CheckNothingLost(t, o)
		assert.EqualValues(t, smokeHandoffs, o.LockTotal("smoke", truth.Lock, "weft.lock.handoffs"))
		players := map[string]int{}
		for _, l := range o.Links("smoke", "handoff") {
			if l.From.Text("weft.lock.class") == truth.Lock {
				players[l.From.Text("thread.name")]++
			}
		}
		assert.Equal(t, map[string]int{"ping": smokeHandoffs / 2, "pong": smokeHandoffs / 2}, players, "who waited")
	})
}

// checkSmokePage checks that the page lists the session, and what it counted at the lock.
func checkSmokePage(t *testing.T, c *collector) {
	t.Helper()
	var list pageSessions
	poll(t, "the page shows that the session has ended", func() bool {
		fromPage(t, c, "sessions", &list)
		return len(list.Sessions) == 1 && !list.Sessions[0].Live
	})
	s := list.Sessions[0]
	assert.Equal(t, "smoke", s.Service)
	assert.Equal(t, "end", s.Ended)
	assert.Zero(t, s.Lost+s.Missed)
	var table struct {
		Classes []struct {
			Class   string `json:"class"`
			Blocked struct {
				Count int `json:"count"`
			} `json:"blocked"`
		} `json:"classes"`
	}
	fromPage(t, c, "sessions/"+s.ID+"/classes", &table)
	blocked := map[string]int{}
	for _, class := range table.Classes {
		blocked[class.Class] = class.Blocked.Count
	}
	assert.Equal(t, smokeHandoffs, blocked["PingPong$Ball"])
}

// TestSmokeRecord attaches weft record to a program before it begins, and ends with it. The summary has each handoff.
func TestSmokeRecord(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		jvm := start(t, nil, filepath.Join(j.Home, "bin", "java"), "-cp", classes, "Smoke", strconv.Itoa(smokeHandoffs))
		poll(t, "the program runs", func() bool { return len(jvm.outLines()) > 0 })
		file := filepath.Join(t.TempDir(), "smoke.weft")
		record := start(t, nil, built("weft"), "record", strconv.Itoa(jvm.cmd.Process.Pid), "--agent", built("libweft.so"), "--timeout", patience.String(),
			"--duration", patience.String(), "--output", file)
		poll(t, "the agent records", func() bool {
			require.True(t, record.running(), "weft record ended")
			return sends(t, jvm.cmd.Process.Pid) != ""
		})
		_, err := jvm.stdin.Write([]byte("\n"))
		require.NoError(t, err)
		require.Zero(t, jvm.wait(t), "exit code of the program")
		require.Zero(t, record.wait(t), "exit code of weft record")

		out, err := exec.Command(built("weft"), "summary", "--format", "json", file).Output()
		require.NoError(t, err)
		var summary struct {
			Sessions []struct {
				Answer viewapi.Answer `json:"answer"`
			} `json:"sessions"`
		}
		require.NoError(t, json.Unmarshal(out, &summary))
		require.Len(t, summary.Sessions, 1)
		handoffs := map[string]int{}
		for _, lock := range summary.Sessions[0].Answer.Costs {
			handoffs[lock.Class] = lock.Handoffs
		}
		assert.Equal(t, smokeHandoffs, handoffs["PingPong$Ball"])
	})
}

// sends returns where the agent in a JVM sends its events. The JVM answers after what was requested of it before: once this is not empty, the
// agent has completely started.
func sends(t *testing.T, pid int) string {
	t.Helper()
	out, err := exec.Command(built("weft"), "list", "--format", "json").Output()
	require.NoError(t, err)
	var all []struct {
		PID   int    `json:"pid"`
		Sends string `json:"sends"`
	}
	require.NoError(t, json.Unmarshal(out, &all))
	for _, jvm := range all {
		if jvm.PID == pid {
			return jvm.Sends
		}
	}
	return ""
}
