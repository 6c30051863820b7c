// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
)

// checkSpring checks Spring Boot, whose clients share few connections of Hikari's pool. Whatever else the threads wait for, this is the answer.
// Below the application's method are 17 frames of Spring, Hikari and the JDK.
func checkSpring(t spantest.T, r *run) {
	t.Helper()
	var waited int64
	r.know(t, &waited)
	atPools := spantest.WaitsWhere(r.Output, r.service, func(s *spantest.Span) bool { return s.Text("weft.wait.kind") == "pool" })
	accountedFor(t, waited, atPools.Time, "waits for connections")
	assert.Equal(t, []string{"com.acme.shop.Shop$OrderController.order"}, atPools.Values("code.function.name"))
	assert.Equal(t, []string{"com.zaxxer.hikari.pool.HikariPool.getConnection"}, atPools.Values("weft.wait.entry"))
	assert.Equal(t, "com.acme.shop.Orders.charge", atPools.Most("weft.lock.holder.function"))
	assert.Equal(t, "pool exhausted HikariPool", costliest(r).Name())
	assert.Regexp(t, `^\d+ threads waited .* for a connection of HikariPool; \d+ threads held one, .* in Orders\.charge`, costliest(r).Text("weft.explanation"))
	assert.Regexp(t, `^\d+ http-nio-\S+ threads waited \S+ \S*s for a connection of HikariPool in Shop\$OrderController\.order; `+
		`held by .*http-nio-.*, asleep in Orders\.charge for \d+ % of the time\.$`, headline(t, r))
	checkNewcomer(t, r, bottleneck{lock: "HikariPool", holder: `http-nio-.*-exec-\d+`, doing: "asleep in Orders.charge", sufferers: `http-nio-.*-exec-\*`})
}

// costliest is the root of the incident that cost most.
func costliest(r *run) (found *spantest.Span) {
	for _, s := range r.Incidents {
		if s.IsRoot() && (found == nil || s.Number("weft.incident.blocked.time") > found.Number("weft.incident.blocked.time")) {
			found = s
		}
	}
	return found
}

// headline is the first sentence of weft summary, in one line.
func headline(t spantest.T, r *run) string {
	t.Helper()
	text, err := r.played.summary()
	require.NoError(t, err)
	first, _, _ := strings.Cut(text, "\n\n")
	return strings.Join(strings.Fields(first), " ")
}

// clicksTruth is what Clicks.java knows.
type clicksTruth struct{ Waited, Audited, Sent, Read int64 }

// checkKafka checks a producer whose callback blocks its network thread, so that senders wait for memory of its buffer. The producer itself counts
// how long. Consumers without records do not contend.
func checkKafka(t spantest.T, r *run) {
	t.Helper()
	var truth clicksTruth
	r.know(t, &truth)
	assert.Equal(t, 2*truth.Sent, truth.Read, "records of both reports")
	buffer := spantest.WaitsWhere(r.Output, r.service, func(s *spantest.Span) bool { return s.Text("weft.wait.kind") == "pool" })
	accountedFor(t, truth.Waited, buffer.Time, "waits for memory")
	assert.Equal(t, []string{"com.acme.clicks.Clicks.click"}, buffer.Values("code.function.name"))
	assert.Equal(t, []string{"org.apache.kafka.clients.producer.internals.BufferPool.allocate"}, buffer.Values("weft.wait.entry"))
	assert.Equal(t, "kafka-producer-network-thread | producer-1", buffer.Most("weft.lock.holder.thread.name"))
	assert.Equal(t, "com.acme.clicks.Audit.write", buffer.Most("weft.lock.holder.function"))
	assert.Less(t, spantest.WaitsWhere(r.Output, r.service, (*spantest.Span).Contended).Time, truth.Waited*6/5, "consumers do not contend")
	queues := spantest.WaitsWhere(r.Output, r.service, func(s *spantest.Span) bool { return s.Text("weft.wait.kind") == "queue" })
	assert.Equal(t, "org.apache.kafka.clients.consumer.KafkaConsumer.poll", queues.Most("weft.wait.entry"))
	assert.Equal(t, "timer", kindOf(r, "kafka-coordinator-heartbeat-thread"))
	assert.Regexp(t, `^8 visitors waited \S+ s for memory of BufferPool in Clicks\.click; held by kafka-producer-network-thread \| producer-1, mostly asleep in Audit\.write\.$`, headline(t, r))
	checkNewcomer(t, r, bottleneck{lock: "BufferPool", holder: `kafka-producer-network-thread \| producer-1`, doing: "asleep in Audit.write", sufferers: "visitor-"})
}

// checkBroker checks that the threads of a broker, which has little to do, do not contend.
func checkBroker(t spantest.T, r *run) {
	t.Helper()
	for _, idle := range []string{"data-plane-kafka-request-handler-", "group-coordinator-event-processor-", "quorum-controller-1-event-handler"} {
		assert.Equal(t, "idle", kindOf(r, idle), idle)
	}
	assert.Equal(t, "timer", kindOf(r, "ExpirationReaper-"))
}

// kindOf is the kind of wait in which threads were longest whose names begin with a prefix.
func kindOf(r *run, prefix string) string {
	return spantest.WaitsWhere(r.Output, r.service, func(s *spantest.Span) bool {
		return strings.HasPrefix(s.Text("thread.name"), prefix) && s.IsState() && s.Text("weft.wait.kind") != ""
	}).Most("weft.wait.kind")
}
