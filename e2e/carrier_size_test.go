// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/spantest"
)

// run is a recording of a program that has ended.
type run struct {
	service, file string
	events        int
}

// Programs whose events need few and many bytes a second.
const (
	calm = "com.acme.orders.Exchange 3"
	busy = "-Xmx64m Stress 3"
)

func recordRun(t *testing.T, service, command string) run {
	t.Helper()
	r := run{service: service, file: filepath.Join(t.TempDir(), service+".weft")}
	program := java(t, jdks[len(jdks)-1], "file://"+r.file, service, strings.Fields(command)...)
	require.Equal(t, 0, program.wait(t), "exit code of the program")
	r.events = len(recordedEvents(t, r.file))
	return r
}

// replay configures a receiver to deliver the recording instead of what agents send, at the pace at which it was recorded.
func (r run) replay(more ...string) []string {
	return append(more, "yaml:receivers::jvm_thread::protocols::file::include: ["+r.file+"]", "yaml:receivers::jvm_thread::protocols::file::pace: 1")
}

// toFile configures a pipeline to write its spans to a file.
func toFile(pipeline string, more ...string) []string {
	return append(more, "yaml:exporters::file::path: ${env:WEFT_OUT}/spans.json", "yaml:exporters::file::flush_interval: 200ms",
		"yaml:service::pipelines::"+pipeline+"::exporters: [file]")
}

// each returns the bytes of an event, and logs them.
func (r run) each(t *testing.T, how string, total int64) float64 {
	t.Helper()
	one := float64(total) / float64(r.events)
	t.Logf("%s, %s: %.1f bytes an event, of %d", r.service, how, one, r.events)
	return one
}

// TestKafkaSize sends recordings through Kafka with each carrier, raw and compressed, and compares what the broker has stored. ADR 021 has the
// sizes that it logs.
func TestKafkaSize(t *testing.T) {
	broker := startKafka(t)
	for service, command := range map[string]string{"calm": calm, "busy": busy} {
		t.Run(service, func(t *testing.T) {
			r := recordRun(t, service, command)
			size := func(carrier, compression string) float64 {
				topic := service + "." + carrier + "." + compression
				c := startCollector(t, setup{
					config: "kafka.yaml",
					more: toFile("traces/from-kafka", r.replay("yaml:receivers::jvm_thread::carrier: "+carrier,
						"yaml:exporters::kafka::producer::compression: "+compression)...),
					env: []string{"KAFKA_BROKERS=[" + broker.address + "]", "KAFKA_TOPIC=" + topic},
				})
				spantest.CheckNothingLost(t, c.finish(t, service))
				return r.each(t, carrier+", "+compression, broker.topicSize(t, topic))
			}
			raw := size("bytes", "none")
			assert.Less(t, raw, size("events", "none"))
			packed := size("bytes", "zstd")
			assert.Less(t, packed, size("events", "zstd"))
			assert.Less(t, packed, raw/2)
		})
	}
}

// TestEdgeSize counts what an edge sends to its gateway. Joined batches must be smaller than single ones, since each repeats names and stacks.
func TestEdgeSize(t *testing.T) {
	r := recordRun(t, "calm", calm)
	size := func(joinedFor string) float64 {
		gateway := freeAddress(t)
		g := startCollector(t, setup{config: "gateway.yaml", more: toFile("traces"), env: []string{"WEFT_GATEWAY=" + gateway}})
		address, sent := counted(t, gateway)
		edge := startCollector(t, setup{
			config: "edge.yaml", env: []string{"WEFT_GATEWAYS=[" + address + "]"},
			more: r.replay("yaml:exporters::load_balancing::sending_queue::batch::flush_timeout: " + joinedFor),
		})
		spantest.CheckNothingLost(t, g.finish(t, "calm"))
		edge.terminate(t)
		return r.each(t, fmt.Sprintf("batches of %s joined", joinedFor), sent.Load())
	}
	assert.Less(t, size("200ms"), size("1ms")*3/4) // a quarter on an idle machine, more if the program hardly runs
}

// counted returns an address that forwards to another, and the number of bytes that were sent there.
func counted(t *testing.T, to string) (address string, sent *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	require.NoError(t, err)
	sent = new(atomic.Int64)
	var copying sync.WaitGroup
	copying.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			forward, err := net.Dial("tcp", to)
			if err != nil {
				_ = from.Close() // the client tries again
				continue
			}
			copying.Go(func() {
				_, _ = io.Copy(from, forward) // ends when either side closes
				_ = from.Close()
			})
			copying.Go(func() {
				_, _ = io.Copy(forward, io.TeeReader(from, counter{sent})) // see above
				_ = forward.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		copying.Wait()
	})
	return listener.Addr().String(), sent
}

type counter struct{ *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.Add(int64(len(p)))
	return len(p), nil
}
