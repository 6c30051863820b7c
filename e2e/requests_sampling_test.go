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

// TestTailSamplingKeepsTheWaitsOfRequests puts contrib's tail sampling between the collector and Jaeger. The SDK sends its spans up to five
// seconds after the end of a request, as it does by default where few requests come, and Weft's come before. WEFT_E2E_DECISION_WAIT is another
// decision_wait.
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
	sent := c.finish(t, s.name)
	requests := newServed(t, sent, s.name, holds)
	time.Sleep(decided + 2*time.Second) // it decides once a second

	var slow, children sampled
	for trace, root := range requests.slow {
		stored := server.stored(t, trace)
		slow.count(stored[root.SpanID().String()])
		for _, span := range requests.added {
			if span.TraceID() == root.TraceID() {
				children.count(stored[span.SpanID().String()])
			}
		}
	}
	t.Logf("decision_wait %v: slow requests %v, added spans %v", decided, slow, children)
	require.Greater(t, slow.of, 100)
	require.Greater(t, children.of, slow.of)
	assert.Zero(t, slow.dropped, "slow requests")
	assert.Zero(t, children.dropped, "spans in their traces")

	var waits, own sampled
	for _, span := range requests.added {
		if span.Number("weft.wait.time") >= int64(50*time.Millisecond) {
			waits.count(server.stored(t, span.TraceID().String())[span.SpanID().String()])
		}
	}
	for _, root := range sent.Of(s.name, func(s *span) bool { return s.IsRoot() && s.Session != "" }) {
		own.count(server.stored(t, root.TraceID().String())[root.SpanID().String()])
	}
	require.Greater(t, waits.of, 100)
	require.Positive(t, own.of)
	assert.Zero(t, waits.dropped, "long waits, of %d", waits.of)
	assert.Zero(t, own.dropped, "traces of windows and incidents, of %d", own.of)
}

// sampled counts spans that were sent, and those that were not kept.
type sampled struct{ of, dropped int }

func (s *sampled) count(kept bool) {
	s.of++
	if !kept {
		s.dropped++
	}
}

// stored returns the IDs of the spans of a trace that Jaeger has.
func (j *jaeger) stored(t *testing.T, trace string) map[string]bool {
	t.Helper()
	ids := map[string]bool{}
	var answer v1Answer
	if j.get(t, "/api/traces/"+trace, &answer) {
		for _, s := range answer.Data[0].Spans {
			ids[s.SpanID] = true
		}
	}
	return ids
}
