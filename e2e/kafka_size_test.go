// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKafkaSize sends recordings through Kafka with each carrier, raw and compressed, at the pace at which they were recorded, and compares
// what the broker has stored. ADR 021 has the sizes that it logs.
func TestKafkaSize(t *testing.T) {
	broker := startKafka(t)
	for service, command := range map[string]string{"calm": "com.acme.orders.Exchange 3", "busy": "-Xmx64m Stress 3"} {
		t.Run(service, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), service+".weft")
			program := java(t, jdks[len(jdks)-1], "file://"+file, service, strings.Fields(command)...)
			require.Equal(t, 0, program.wait(t), "exit code of the program")
			events := len(recordedEvents(t, file))
			size := func(carrier, compression string) float64 {
				topic := service + "." + carrier + "." + compression
				c := startCollector(t, setup{
					config: "kafka.yaml",
					more: []string{
						"yaml:receivers::jvm_thread::protocols::file::include: [" + file + "]",
						"yaml:receivers::jvm_thread::protocols::file::pace: 1",
						"yaml:receivers::jvm_thread::carrier: " + carrier,
						"yaml:exporters::kafka::producer::compression: " + compression,
						"yaml:exporters::file::path: ${env:WEFT_OUT}/spans.json",
						"yaml:exporters::file::flush_interval: 200ms",
						"yaml:service::pipelines::traces/from-kafka::exporters: [file]",
					},
					env: []string{"KAFKA_BROKERS=[" + broker.address + "]", "KAFKA_TOPIC=" + topic},
				})
				checkNothingLost(t, c.finish(t, service))
				one := float64(broker.topicSize(t, topic)) / float64(events)
				t.Logf("%s: %.1f bytes an event, of %d", topic, one, events)
				return one
			}
			raw := size("bytes", "none")
			assert.Less(t, raw, size("events", "none"))
			packed := size("bytes", "zstd")
			assert.Less(t, packed, size("events", "zstd"))
			assert.Less(t, packed, raw/2)
		})
	}
}
