// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
)

// sink is a collector that stores what it receives over OTLP, in place of Tempo.
type sink struct {
	*collector
	grpc, http string
}

func startSink(t *testing.T) sink {
	t.Helper()
	s := sink{grpc: freeAddress(t), http: freeAddress(t)}
	s.collector = startCollector(t, setup{
		config: filepath.Join(root, "e2e/testdata/sink.yaml"), env: []string{"SINK_GRPC=" + s.grpc, "SINK_HTTP=" + s.http},
	})
	return s
}

// TestEachConfigurationIsTested fails if a file in config has no test below.
func TestEachConfigurationIsTested(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "config", "*.yaml"))
	require.NoError(t, err)
	var names []string
	others := []string{"alerts.yaml", "recording-rules.yaml", "kustomization.yaml"} // TestRules, TestKustomizeExamples
	for _, file := range files {
		if name := filepath.Base(file); !slices.Contains(others, name) {
			names = append(names, name)
		}
	}
	assert.ElementsMatch(t, []string{"all-in-one.yaml", "durable.yaml", "durable-edge.yaml", "durable-file.yaml", "durable-http.yaml", "edge.yaml", "gateway.yaml", "jaeger.yaml", "kafka.yaml", "metrics.yaml", "profiles.yaml", "record.yaml", "replay.yaml", "tempo.yaml"}, names)
}

// throughSink runs a ping-pong against a collector and checks what arrives at the sink.
func throughSink(t *testing.T, endpoint, service string, s sink, first ...*collector) {
	t.Helper()
	var truth spantest.PingPong
	runJava(t, jdks[len(jdks)-1], endpoint, service, &truth, "PingPong", "50")
	s.waitForCut(t, service, "end")
	for _, c := range first {
		c.terminate(t)
	}
	s.terminate(t)
	o := s.spans(t)
	spantest.CheckPingPong(t, o, service, truth)
	spantest.CheckStructure(t, o)
	spantest.CheckNothingLost(t, o)
}

func TestTempo(t *testing.T) {
	s := startSink(t)
	c := startCollector(t, setup{config: "tempo.yaml", more: []string{"yaml:exporters::otlp_http::timeout: 10m"}, env: []string{"TEMPO_ENDPOINT=http://" + s.http}})
	throughSink(t, c.endpoint, "tempo", s, c)
}

// TestEdgeAndGateways sends raw events of two JVMs through two gateways: each JVM must stay on one of them. The agents use TCP.
func TestEdgeAndGateways(t *testing.T) {
	s := startSink(t)
	addresses := []string{freeAddress(t), freeAddress(t)}
	var gateways []*collector
	for _, address := range addresses {
		gateways = append(gateways, startCollector(t, setup{
			config: "gateway.yaml", more: []string{patientOTLP}, env: []string{"WEFT_GATEWAY=" + address, "WEFT_BACKEND=" + s.grpc},
		}))
	}
	edge := startCollector(t, setup{
		config: "edge.yaml", endpoint: "tcp://" + freeAddress(t), env: []string{"WEFT_GATEWAYS=[" + strings.Join(addresses, ",") + "]"},
	})
	var one, two spantest.PingPong
	runJava(t, jdks[0], edge.endpoint, "one", &one, "PingPong", "50")
	runJava(t, jdks[0], edge.endpoint, "two", &two, "PingPong", "50")
	s.waitForCut(t, "one", "end")
	s.waitForCut(t, "two", "end")
	edge.terminate(t)
	for _, gateway := range gateways {
		gateway.terminate(t)
	}
	s.terminate(t)
	o := s.spans(t)
	spantest.CheckPingPong(t, o, "one", one)
	spantest.CheckPingPong(t, o, "two", two)
	spantest.CheckStructure(t, o)
	spantest.CheckNothingLost(t, o)
}

// TestTCP is the all-in-one configuration on a TCP port.
func TestTCP(t *testing.T) {
	c := startCollector(t, setup{endpoint: "tcp://" + freeAddress(t)})
	var truth spantest.PingPong
	runJava(t, jdks[0], c.endpoint, "tcp", &truth, "PingPong", "50")
	spantest.CheckPingPong(t, c.finish(t, "tcp"), "tcp", truth)
}
