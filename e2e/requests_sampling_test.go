// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
)

// TestTailSamplingKeepsTheWaitsOfRequests puts contrib's tail sampling between the collector and Jaeger. The SDK sends its spans up to five
// seconds after the end of a request, as it does by default where few requests come, and Weft's come before.
func TestTailSamplingKeepsTheWaitsOfRequests(t *testing.T) {
	server := startJaegerWith(t, "jaeger_sampling.yaml", "DECISION_WAIT=10s")
	address := freeAddress(t)
	with := withOTLP(server.setup(), address)
	with.more = append(with.more, "yaml:service::pipelines::traces/app::exporters: [otlp_grpc, file]")
	c := startCollector(t, with)
	const service = "tomcat"
	options := append(exporting(address), "-Dotel.bsp.schedule.delay=5000", "-Dotel.bsp.max.export.batch.size=100000", "-Dotel.javaagent.extensions="+built("weft-otel.jar"),
		"-agentpath:"+built("libweft.so")+"=endpoint="+c.endpoint+everything)
	holds := serveShop(t, jdks[0], service, options...)
	sent := c.finish(t, service)
	requests := spantest.NewServed(sent, service, holds)

	var children, waits []*span
	for _, s := range requests.Added {
		if requests.Slow[s.TraceID().String()] != nil {
			children = append(children, s)
		}
		if s.Number("weft.wait.time") >= int64(50*time.Millisecond) {
			waits = append(waits, s)
		}
	}
	for what, kept := range map[string][]*span{
		"slow requests": slices.Collect(maps.Values(requests.Slow)), "spans in their traces": children, "long waits": waits,
		"windows and incidents": sent.Of(service, func(s *span) bool { return s.IsRoot() && s.Session != "" }),
	} {
		require.NotEmpty(t, kept, what)
		poll(t, "Jaeger has all "+what, func() bool {
			kept = slices.DeleteFunc(kept, func(s *span) bool { return server.stored(t, s.TraceID().String())[s.SpanID().String()] })
			return len(kept) == 0
		})
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
