// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"cmp"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTailSamplingKeepsTheWaitsOfRequests puts contrib's tail sampling between the collector and Jaeger, with the batches of an SDK as they are
// by default: its spans come up to five seconds after the end of a request, and Weft's before. WEFT_E2E_DECISION_WAIT is another decision_wait.
func TestTailSamplingKeepsTheWaitsOfRequests(t *testing.T) {
	classpath := withJars(t, "requests")
	wait := cmp.Or(os.Getenv("WEFT_E2E_DECISION_WAIT"), "10s")
	decided, err := time.ParseDuration(wait)
	require.NoError(t, err)
	server := startJaegerWith(t, "jaeger_sampling.yaml", "DECISION_WAIT="+wait)
	address := freeAddress(t)
	with := withOTLP(server.setup(), address)
	with.more = append(with.more, "yaml:service::pipelines::traces/app::exporters: [otlp_grpc, file]")
	c := startCollector(t, with)
	s, j := shops[0], jdks[0]
	options := append(exporting(address), "-Dotel.bsp.schedule.delay=5000", "-Dotel.bsp.max.export.batch.size=100000", "-Dotel.javaagent.extensions="+built("weft-otel.jar"),
		"-agentpath:"+built("libweft.so")+"=endpoint="+c.endpoint+everything)
	holds := s.serve(t, j, classpath, shopPause, options...)
	sent := newServed(t, c.finish(t, s.name), s.name, holds)
	time.Sleep(decided + 2*time.Second) // it decides once a second

	requests, children, kept, all := 0, 0, 0, 0
	for trace, root := range sent.slow {
		stored := map[string]bool{}
		var answer v1Answer
		if server.get(t, "/api/traces/"+trace, &answer) {
			for _, span := range answer.Data[0].Spans {
				stored[span.SpanID] = true
			}
		}
		requests++
		if stored[root.SpanID().String()] {
			kept++
		}
		for _, span := range sent.added {
			if span.TraceID() == root.TraceID() {
				all++
				if stored[span.SpanID().String()] {
					children++
				}
			}
		}
	}
	t.Logf("decision_wait %v: %d of %d slow requests, %d of %d added spans", decided, kept, requests, children, all)
	require.Greater(t, requests, 100)
	assert.Equal(t, requests, kept, "slow requests")
	assert.Equal(t, all, children, "spans in their traces")
}
