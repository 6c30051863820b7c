// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// The tests of this file end each kind of process once, after windows have arrived. The tests of internal/sessions simulate combinations.

// TestKilledCollectorLosesNothing also has two sessions end while the collector is down: only its storage knows them.
func TestKilledCollectorLosesNothing(t *testing.T) {
	to := startBackend(t)
	l := startLives(t, to, directTo(t, to, shipped("durable.yaml")))
	left := l.startLeavers(t)
	l.end(t, 0, syscall.SIGKILL, func() { left.leave(t) })
	left.check(t, to)
	l.finish(t, 1)
	to.neverLost(t, "idle")
}

func TestStoppedCollectorLosesNothing(t *testing.T) {
	for name, more := range map[string][]string{"storage": {shipped("durable.yaml")}, "memory": nil} {
		t.Run(name, func(t *testing.T) {
			to := startBackend(t)
			l := startLives(t, to, directTo(t, to, more...))
			l.end(t, 0, syscall.SIGTERM)
			l.gaps = more == nil
			l.finish(t, 0)
			to.neverLost(t, "idle")
		})
	}
}

// directTo configures a collector that sends windows to a backend.
func directTo(t *testing.T, to *backend, more ...string) setup {
	t.Helper()
	return setup{
		config: "jaeger.yaml", more: more, endpoint: newSocket(t),
		env: []string{"WEFT_STATE=" + filepath.Join(t.TempDir(), "state"), "JAEGER_ENDPOINT=" + to.address},
	}
}

// edgeAndGateways configures an edge that knows some of two gateways.
func edgeAndGateways(t *testing.T, to *backend, known func(a, b string) string) (edge, one, other setup) {
	t.Helper()
	a, b := freeAddress(t), freeAddress(t)
	gateway := func(address string) setup {
		return setup{
			config: "gateway.yaml", more: []string{shipped("durable.yaml")},
			env: []string{"WEFT_GATEWAY=" + address, "WEFT_BACKEND=" + to.address, "WEFT_STATE=" + filepath.Join(t.TempDir(), "state")},
		}
	}
	edge = setup{
		config: "edge.yaml", more: []string{shipped("durable-edge.yaml")}, endpoint: newSocket(t),
		env: []string{"WEFT_STATE=" + filepath.Join(t.TempDir(), "edge"), "WEFT_GATEWAYS=[" + known(a, b) + "]"},
	}
	return edge, gateway(a), gateway(b)
}

// TestKilledGatewaysLoseNothing kills two gateways, and the edge, during whose absence two sessions end: the gateways know that only from its
// silence.
func TestKilledGatewaysLoseNothing(t *testing.T) {
	to := startBackend(t)
	edge, one, other := edgeAndGateways(t, to, func(a, b string) string { return a + "," + b })
	l := startLives(t, to, edge, one, other)
	left := l.startLeavers(t)
	l.end(t, 1, syscall.SIGKILL)
	l.end(t, 2, syscall.SIGKILL)
	l.end(t, 0, syscall.SIGKILL, func() { left.leave(t) })
	left.check(t, to)
	l.finish(t, 3)
	to.neverLost(t, "idle")
}

// TestSessionMovesBetweenGateways moves sessions to another gateway while the first one is killed, and back.
func TestSessionMovesBetweenGateways(t *testing.T) {
	to := startBackend(t)
	var gateways [2]string
	edge, one, other := edgeAndGateways(t, to, func(a, b string) string { gateways = [2]string{a, b}; return a })
	l := startLives(t, to, edge, one, other)
	route := func(gateway int) func() {
		return func() { l.setups[0].env[1] = "WEFT_GATEWAYS=[" + gateways[gateway] + "]" }
	}
	l.end(t, 0, syscall.SIGTERM, func() { l.running[1].stop(t, syscall.SIGKILL) }, route(1))
	l.windows(t, "stays", "idle")
	l.running[1] = startCollector(t, one)
	for _, service := range []string{"stays", "idle"} {
		poll(t, "the first gateway delivers its part of "+service, func() bool { return to.cuts(service)["lost"] > 0 })
	}
	l.end(t, 0, syscall.SIGTERM, route(0))
	l.gaps = true
	l.finish(t, 1)
}

// TestKilledKafkaLosesNothing kills the collector that writes to Kafka, the one that reads, and the broker.
func TestKilledKafkaLosesNothing(t *testing.T) {
	to, broker := startBackend(t), startKafka(t)
	side := func(pipeline string) setup {
		s := directTo(t, to, shipped("durable.yaml"))
		s.config = onePipeline(t, "kafka.yaml", pipeline)
		s.env = append(s.env, "KAFKA_BROKERS=["+broker.address+"]", "KAFKA_INSTANCE=reader", "WEFT_BACKEND="+to.address)
		return s
	}
	l := startLives(t, to, side("traces/to-kafka"), side("traces/from-kafka"))
	l.end(t, 0, syscall.SIGKILL)
	l.end(t, 1, syscall.SIGKILL)
	l.windows(t, "stays", "idle")
	broker.stop(t, syscall.SIGKILL)
	broker.run(t)
	l.finish(t, 3)
	to.neverLost(t, "idle")
}

// onePipeline returns a copy of a file of config that has only one of its pipelines.
func onePipeline(t *testing.T, name, pipeline string) string {
	t.Helper()
	text, err := os.ReadFile(shipped(name))
	require.NoError(t, err)
	var whole map[string]any
	require.NoError(t, yaml.Unmarshal(text, &whole))
	pipelines := whole["service"].(map[string]any)["pipelines"].(map[string]any)
	require.Contains(t, pipelines, pipeline)
	for other := range pipelines {
		if other != pipeline {
			delete(pipelines, other)
		}
	}
	text, err = yaml.Marshal(whole)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}
