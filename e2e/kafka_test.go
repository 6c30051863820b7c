// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/e2e/runtimes"
	"github.com/weft-otel/weft/internal/threadtest"
)

// kafkaBroker is a running broker.
type kafkaBroker struct {
	*process
	address string
	command []string
}

// startKafka starts a single-node Kafka broker with options of the JVM. Its jars are downloaded once, into build/kafka.
func startKafka(t *testing.T, options ...string) *kafkaBroker {
	t.Helper()
	jars := built("kafka")
	if !exists(filepath.Join(jars, "fetched")) {
		require.NoError(t, runtimes.FetchJars(root, "e2e/kafka/pom.xml", jars))
	}
	newest := jdks[len(jdks)-1]
	java := filepath.Join(newest.Home, "bin", "java")
	broker := &kafkaBroker{address: freeAddress(t)}
	kafka := runtimes.Broker{
		Java: java, ClassPath: filepath.Join(jars, "*"), Address: broker.address, Controller: freeAddress(t),
		More: []string{"num.partitions=4", "transaction.state.log.replication.factor=1", "transaction.state.log.min.isr=1"},
	}
	args, err := kafka.Prepare(t.Context(), threadtest.SocketDir(t))
	require.NoError(t, err)
	broker.command = slices.Concat([]string{java}, options, args)
	broker.run(t)
	return broker
}

// run starts the broker, or starts it again after its end.
func (b *kafkaBroker) run(t *testing.T) {
	t.Helper()
	b.process = start(t, nil, b.command[0], b.command[1:]...)
	poll(t, "Kafka is ready", func() bool {
		require.True(t, b.running(), "Kafka ended: %s", strings.Join(b.errLines(), "\n"))
		connection, err := net.Dial("tcp", b.address)
		if err == nil {
			_ = connection.Close()
		}
		return err == nil
	})
}

// TestKafka sends raw events of two JVMs through a topic with several partitions, and turns them into spans.
func TestKafka(t *testing.T) {
	broker := startKafka(t)
	s := startSink(t)
	c := startCollector(t, setup{config: "kafka.yaml", more: []string{patientOTLP}, env: []string{"KAFKA_BROKERS=[" + broker.address + "]", "WEFT_BACKEND=" + s.grpc}})
	var one, two spantest.PingPong
	runJava(t, jdks[0], c.endpoint, "one", &one, "PingPong", "50")
	runJava(t, jdks[0], c.endpoint, "two", &two, "PingPong", "50")
	s.waitForCut(t, "one", "end")
	s.waitForCut(t, "two", "end")
	c.terminate(t)
	s.terminate(t)
	o := s.spans(t)
	spantest.CheckPingPong(t, o, "one", one)
	spantest.CheckPingPong(t, o, "two", two)
	spantest.CheckStructure(t, o)
	spantest.CheckNothingLost(t, o)
}
