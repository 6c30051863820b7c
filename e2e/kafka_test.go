// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/e2e/runtimes"
	"github.com/weft-otel/weft/internal/threadtest"
)

const brokerProperties = `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@%[2]s
listeners=PLAINTEXT://%[1]s,CONTROLLER://%[2]s
controller.listener.names=CONTROLLER
log.dirs=%[3]s
num.partitions=4
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
`

// quickStart is for programs that run for seconds.
const quickStart = "-XX:TieredStopAtLevel=1"

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
	java := filepath.Join(newest.home, "bin", "java")
	dir := threadtest.SocketDir(t)
	broker := &kafkaBroker{address: freeAddress(t)}
	properties := filepath.Join(dir, "server.properties")
	content := fmt.Sprintf(brokerProperties, broker.address, freeAddress(t), filepath.Join(dir, "data"))
	require.NoError(t, os.WriteFile(properties, []byte(content), 0o600))
	classpath := filepath.Join(jars, "*")
	out, err := exec.Command(java, quickStart, "-cp", classpath, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", properties).CombinedOutput()
	require.NoError(t, err, "%s", out)
	broker.command = append(append([]string{java}, options...), quickStart, "-Xmx256m", "-cp", classpath, "kafka.Kafka", properties)
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
