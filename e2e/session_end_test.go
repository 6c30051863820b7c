// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/threadtest"
)

// restartSlack is how much longer than documented a busy machine may take.
const restartSlack = 40 * time.Second

// endsUnheard kills a collector, ends a JVM and an agent meanwhile, and starts the collector again. No data of others arrives. The last windows
// must be delivered within a time, with the right cut.
func endsUnheard(t *testing.T, to *backend, s setup, c *collector, within time.Duration) {
	t.Helper()
	agent, jvm := startAgent(t, s.endpoint, "vanished"), java(t, jdks[0], s.endpoint, "exited", "Idle")
	poll(t, "windows arrive", func() bool { return to.cuts("vanished")["time"] > 0 && to.cuts("exited")["time"] > 0 })
	c.stop(t, syscall.SIGKILL)
	require.NoError(t, writeLine(jvm))
	begin := time.Now()
	require.Equal(t, 0, jvm.wait(t), "exit code of the JVM")
	t.Logf("the JVM ended within %v", time.Since(begin))
	acked, made := agent.vanish()
	begin = time.Now()
	startCollector(t, s)
	poll(t, "the last windows arrive", func() bool { return to.cuts("vanished")["lost"] > 0 && to.cuts("exited")["lost"] > 0 })
	took := time.Since(begin)
	t.Logf("the sessions were ended %v after the start of the next collector", took)
	assert.Less(t, took, within+restartSlack)

	to.checkRepeats(t, 2) // one of each session
	to.mu.Lock()
	defer to.mu.Unlock()
	var events uint64
	for _, service := range []string{"vanished", "exited"} {
		for _, root := range to.got.roots(service) {
			assert.Zero(t, root.number("weft.events.missed"), service)
			if service == "vanished" {
				events += uint64(root.number("weft.events.count"))
			}
		}
		assert.Equal(t, 1, to.got.cuts(service)["lost"], service)
		assert.Zero(t, to.got.cuts(service)["end"], service)
	}
	t.Logf("%d events, %d acknowledged, %d in windows", made, acked, events)
	assert.GreaterOrEqual(t, events, acked, "acknowledged events are in windows")
	assert.LessOrEqual(t, events, made)
}

// TestSessionsEndWhileTheCollectorIsDown has only the storage of the collector to know of the sessions.
func TestSessionsEndWhileTheCollectorIsDown(t *testing.T) {
	to, dir := startBackend(t), t.TempDir()
	s := setup{
		config: "jaeger.yaml", more: []string{shipped("durable.yaml")}, endpoint: "unix://" + filepath.Join(threadtest.SocketDir(t), "weft.sock"),
		env: []string{"WEFT_STATE=" + filepath.Join(dir, "state"), "JAEGER_ENDPOINT=" + to.address, shortWindows},
	}
	const documented = 20 * time.Second // 5 s until the session is continued, and three times reorder_timeout
	endsUnheard(t, to, s, startCollector(t, s), documented)
}

// TestSessionsEndWhileTheEdgeIsDown: the gateway knows the end only from the silence of the edge.
func TestSessionsEndWhileTheEdgeIsDown(t *testing.T) {
	to, dir := startBackend(t), t.TempDir()
	address := freeAddress(t)
	const timeout = 10 * time.Second
	startCollector(t, setup{
		config: "gateway.yaml", more: []string{"yaml:extensions::thread_engine::session_timeout: 10s"},
		env: []string{"WEFT_GATEWAY=" + address, "WEFT_BACKEND=" + to.address, shortWindows},
	})
	s := setup{
		config: "edge.yaml", more: []string{shipped("durable-edge.yaml")}, endpoint: "unix://" + filepath.Join(threadtest.SocketDir(t), "weft.sock"),
		env: []string{"WEFT_STATE=" + filepath.Join(dir, "edge"), "WEFT_GATEWAYS=[" + address + "]"},
	}
	endsUnheard(t, to, s, startCollector(t, s), timeout)
}
