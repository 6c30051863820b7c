// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/spantest"
)

// TestKafkaNamesTheSlowCallback runs a producer whose callback blocks its network thread, so that senders wait for memory of its buffer. The
// producer itself counts how long. Consumers without records and the threads of the broker, which has little to do, do not contend.
func TestKafkaNamesTheSlowCallback(t *testing.T) {
	newest := jdks[len(jdks)-1] // the broker takes seconds to start
	classpath := withJars(t, "kafka")
	c := startCollector(t, wholeRun)
	broker := startKafka(t, "-agentpath:"+built("libweft.so")+"=endpoint="+c.endpoint+",service=broker"+everything)
	p := java(t, newest, c.endpoint, "clicks", quickStart, "-cp", classpath, "com.acme.clicks.Clicks", broker.address, "30")
	require.Equal(t, 0, p.wait(t), "exit code of the program")
	var truth struct{ Waited, Audited, Sent, Read int64 }
	p.truth(t, &truth)
	assert.Equal(t, 2*truth.Sent, truth.Read, "records of both reports")
	broker.stop(t, syscall.SIGTERM)
	o := c.finish(t, "clicks", "broker")
	spantest.CheckNothingLost(t, o)

	buffer := spantest.WaitsWhere(o, "clicks", func(s *span) bool { return s.Text("weft.wait.kind") == "pool" })
	assert.InEpsilon(t, truth.Waited, buffer.Time, 0.1, "waits for memory")
	assert.Equal(t, []string{"com.acme.clicks.Clicks.click"}, buffer.Values("code.function.name"))
	assert.Equal(t, []string{"org.apache.kafka.clients.producer.internals.BufferPool.allocate"}, buffer.Values("weft.wait.entry"))
	assert.Equal(t, "kafka-producer-network-thread | producer-1", buffer.Most("weft.lock.holder.thread.name"))
	assert.Equal(t, "com.acme.clicks.Audit.write", buffer.Most("weft.lock.holder.function"))

	named := func(service, prefix string) spantest.Waits {
		return spantest.WaitsWhere(o, service, func(s *span) bool {
			return strings.HasPrefix(s.Text("thread.name"), prefix) && s.IsState() && s.Text("weft.wait.kind") != ""
		})
	}
	assert.Less(t, spantest.WaitsWhere(o, "clicks", (*span).Contended).Time, truth.Waited*6/5, "consumers do not contend")
	assert.Equal(t, "org.apache.kafka.clients.consumer.KafkaConsumer.poll", spantest.WaitsWhere(o, "clicks", func(s *span) bool {
		return s.Text("weft.wait.kind") == "queue"
	}).Most("weft.wait.entry"))
	assert.Equal(t, "timer", named("clicks", "kafka-coordinator-heartbeat-thread").Most("weft.wait.kind"))
	for _, idle := range []string{"data-plane-kafka-request-handler-", "group-coordinator-event-processor-", "quorum-controller-1-event-handler"} {
		assert.Equal(t, "idle", named("broker", idle).Most("weft.wait.kind"), idle)
	}
	assert.Equal(t, "timer", named("broker", "ExpirationReaper-").Most("weft.wait.kind"))

	first, text := summaryOf(t, c)
	assert.Regexp(t, `^8 visitors waited \S+ s for memory of BufferPool in Clicks\.click; held by kafka-producer-network-thread \| producer-1, mostly in Audit\.write$`, first)
	t.Logf("%v waited, %v seen\n%s", time.Duration(truth.Waited), time.Duration(buffer.Time), text)
}
