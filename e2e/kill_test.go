// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/threadtest"
)

// shipped is a file of config, as an addition to another one.
func shipped(name string) string { return filepath.Join(root, "config", name) }

// shortWindows makes a window end during most lives of a collector.
const shortWindows = "WEFT_WINDOW=2s"

// TestKilledCollectorLosesNothing kills the collector again and again, and each time starts the next one at once.
func TestKilledCollectorLosesNothing(t *testing.T) {
	restartAgain(t, syscall.SIGKILL, shipped("durable.yaml"))
}

// TestStoppedCollectorLosesNothing stops the collector again and again, with and without a storage.
func TestStoppedCollectorLosesNothing(t *testing.T) {
	t.Run("storage", func(t *testing.T) { restartAgain(t, syscall.SIGTERM, shipped("durable.yaml")) })
	t.Run("memory", func(t *testing.T) { restartAgain(t, syscall.SIGTERM) })
}

func restartAgain(t *testing.T, signal syscall.Signal, more ...string) {
	t.Helper()
	to := startBackend(t)
	s := setup{
		config: "jaeger.yaml", more: more, endpoint: "unix://" + filepath.Join(threadtest.SocketDir(t), "weft.sock"),
		env: []string{"WEFT_STATE=" + filepath.Join(t.TempDir(), "state"), "JAEGER_ENDPOINT=" + to.address, shortWindows},
	}
	k := newKiller(t)
	c := startCollector(t, s)
	agent, jvm := startAgent(t, s.endpoint, "killed"), java(t, jdks[0], s.endpoint, "idle", "Idle")
	for k.left > 0 {
		k.live()
		c = k.replace(t, c, s, signal)
	}
	require.NoError(t, writeLine(jvm))
	require.Equal(t, 0, jvm.wait(t), "exit code of the JVM")
	events, length := agent.end(t)
	to.waitForEnds(t, "idle")
	to.waitForAll(t, "killed", events)
	c.terminate(t)
	to.check(t, "killed", events, length)
	to.checkJVM(t, "idle")
	if signal == syscall.SIGKILL {
		to.checkRepeats(t, inFlight*k.done)
	} else {
		to.checkRepeats(t, 0)
	}
}

// TestKilledGatewaysLoseNothing kills an edge and its gateways.
func TestKilledGatewaysLoseNothing(t *testing.T) {
	to := startBackend(t)
	dir := t.TempDir()
	addresses := []string{freeAddress(t), freeAddress(t)}
	setups := []setup{{
		config: "edge.yaml", more: []string{shipped("durable-edge.yaml")}, endpoint: "unix://" + filepath.Join(threadtest.SocketDir(t), "weft.sock"),
		env: []string{"WEFT_STATE=" + filepath.Join(dir, "edge"), "WEFT_GATEWAYS=[" + strings.Join(addresses, ",") + "]"},
	}}
	for i, address := range addresses {
		setups = append(setups, setup{
			config: "gateway.yaml", more: []string{shipped("durable.yaml")},
			env: []string{"WEFT_GATEWAY=" + address, "WEFT_BACKEND=" + to.address, "WEFT_STATE=" + filepath.Join(dir, fmt.Sprint("state", i)), shortWindows},
		})
	}
	killSome(t, setups, to, func(*killer) {})
}

// inFlight is how many windows an exporter sends at once: num_consumers of its queue, by default. After a kill, it sends them again.
const inFlight = 10

// killSome starts collectors, of which agents connect to the first one, and kills one after the other, in random order. It calls also after
// each kill.
func killSome(t *testing.T, setups []setup, to *backend, also func(*killer)) {
	t.Helper()
	k := newKiller(t)
	running := make([]*collector, len(setups))
	for i := range setups {
		running[len(setups)-1-i] = startCollector(t, setups[len(setups)-1-i])
	}
	endpoint := setups[0].endpoint
	agent, jvm := startAgent(t, endpoint, "killed"), java(t, jdks[0], endpoint, "idle", "Idle")
	for k.left > 0 {
		k.live()
		i := k.random.IntN(len(setups))
		running[i] = k.replace(t, running[i], setups[i], syscall.SIGKILL)
		also(k)
	}
	require.NoError(t, writeLine(jvm))
	require.Equal(t, 0, jvm.wait(t), "exit code of the JVM")
	events, length := agent.end(t)
	to.waitForEnds(t, "idle")
	to.waitForAll(t, "killed", events)
	for i := len(running) - 1; i > 0; i-- { // those that follow the sessions: what they get again begins none
		running[i] = k.replace(t, running[i], setups[i], syscall.SIGKILL)
	}
	k.live()
	for _, c := range running {
		c.terminate(t)
	}
	to.check(t, "killed", events, length)
	to.checkJVM(t, "idle")
	to.checkRepeats(t, inFlight*k.done)
}
