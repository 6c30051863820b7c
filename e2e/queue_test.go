// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// TestRequestsStayBelowTheLimitOfServers sends large spans, of 100 bytes to 100 KB, through gateways to a server that accepts 4 MiB.
func TestRequestsStayBelowTheLimitOfServers(t *testing.T) {
	for _, more := range [][]string{nil, {shipped("durable.yaml")}} {
		to := startBackend(t)
		address := freeAddress(t)
		c := startCollector(t, setup{config: "gateway.yaml", more: more, env: []string{
			"WEFT_GATEWAY=" + address, "WEFT_BACKEND=" + to.address, "WEFT_STATE=" + filepath.Join(t.TempDir(), "state"),
		}})
		client, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		require.NoError(t, err)
		t.Cleanup(func() { _ = client.Close() })
		const requests, spans = 8, 2048 // as many as thread_span sends at once
		random := rand.New(rand.NewPCG(1, 1))
		total := 0
		for i := range requests {
			td := ptrace.NewTraces()
			rs := td.ResourceSpans().AppendEmpty()
			rs.Resource().Attributes().PutStr("service.name", "large")
			to := rs.ScopeSpans().AppendEmpty().Spans()
			for n := range spans {
				s := to.AppendEmpty()
				s.SetTraceID(pcommon.TraceID{1, byte(i)})
				s.SetSpanID(pcommon.SpanID{1, byte(n >> 8), byte(n)})
				size := 100 + random.IntN(8000)
				if random.IntN(100) == 0 {
					size = 100_000
				}
				s.Attributes().PutStr("code.stacktrace", strings.Repeat("x", size))
				total += size
			}
			_, err := ptraceotlp.NewGRPCClient(client).Export(t.Context(), ptraceotlp.NewExportRequestFromTraces(td))
			require.NoError(t, err)
		}
		received := func() int {
			to.mu.Lock()
			defer to.mu.Unlock()
			return len(to.got.ByID)
		}
		poll(t, "all spans arrive", func() bool { return received() == requests*spans || !c.running() })
		c.terminate(t)
		t.Logf("%d bytes in spans; the largest request has %d", total, to.largest)
		assert.Less(t, to.largest, 4<<20)
		assert.Greater(t, to.largest, 1<<20, "the spans fill requests")
	}
}

// TestFullQueueWaits kills a collector whose backend is away until its queue is full.
func TestFullQueueWaits(t *testing.T) {
	address := freeAddress(t)
	s := setup{
		config: "jaeger.yaml", more: []string{shipped("durable.yaml"), "yaml:exporters::otlp_grpc::sending_queue::queue_size: 3000000"},
		endpoint: newSocket(t), env: []string{"WEFT_STATE=" + filepath.Join(t.TempDir(), "state"), "JAEGER_ENDPOINT=" + address, "WEFT_WINDOW=1s"},
	}
	c := startCollector(t, s)
	agent := startAgent(t, s.endpoint, "killed", patience)
	const events = 8000 // of five seconds; usually, they are acknowledged within 250 ms
	poll(t, "the receiver waits", func() bool { sum := agent.Summary(); return sum.Events-sum.Acked > events })
	c.stop(t, syscall.SIGKILL)
	c = startCollector(t, s)
	to := startBackendAt(t, address)
	all := agent.finish(t)
	to.waitForAll(t, "killed", all)
	c.terminate(t)
	to.check(t, "killed", all, false)
	to.checkRepeats(t, 0)
}
