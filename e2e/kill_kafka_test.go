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

	"github.com/weft-otel/weft/internal/threadtest"
)

// TestKilledKafkaLosesNothing kills the collector that writes to Kafka, the one that reads, and once the broker.
func TestKilledKafkaLosesNothing(t *testing.T) {
	to, broker := startBackend(t), startKafka(t)
	dir := t.TempDir()
	side := func(pipeline string) setup {
		return setup{
			config: onePipeline(t, "kafka.yaml", pipeline), more: []string{shipped("durable.yaml")},
			endpoint: "unix://" + filepath.Join(threadtest.SocketDir(t), "weft.sock"),
			env: []string{
				"KAFKA_BROKERS=[" + broker.address + "]", "KAFKA_INSTANCE=reader", "WEFT_BACKEND=" + to.address,
				"WEFT_STATE=" + filepath.Join(dir, filepath.Base(pipeline)), shortWindows,
			},
		}
	}
	again := false
	killSome(t, []setup{side("traces/to-kafka"), side("traces/from-kafka")}, to, func(k *killer) {
		if !again && k.left <= k.done {
			broker.stop(t, syscall.SIGKILL)
			broker.run(t)
			again = true
		}
	})
	require.True(t, again, "the broker was killed")
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
