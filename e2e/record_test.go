// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/recording/orca"
	"github.com/weft-otel/weft/internal/recording/tptp"
	"github.com/weft-otel/weft/internal/threadtest"
)

// TestCollectorReadsItsRecordings records a live JVM in each format; another collector must read the same handoffs from each file. Package
// corpus compares all links and times.
func TestCollectorReadsItsRecordings(t *testing.T) {
	const service, nameless = "orders", "unknown_service:java" // only native recordings contain the service name
	dir := filepath.Join(threadtest.SocketDir(t), "recordings")
	c := startCollector(t, setup{
		more: []string{filepath.Join(root, "config", "record.yaml")}, env: []string{"WEFT_RECORDINGS=" + dir},
	})
	var truth spantest.PingPong
	runJava(t, jdks[0], c.endpoint, service, &truth, "PingPong", "100")
	live := c.finish(t, service)
	for _, format := range []recording.Format{native.Format(), orca.Format(), tptp.Format()} {
		t.Run(format.Name, func(t *testing.T) {
			name, why := nameless, "lost" // the other formats do not record the end
			if format.Name == "native" {
				name, why = service, "end"
			}
			reader := startCollector(t, setup{
				config: "replay.yaml", env: []string{"WEFT_RECORDINGS=" + filepath.Join(dir, "*"+format.Extension), "WEFT_STATE=" + t.TempDir()},
			})
			reader.waitForCut(t, name, why)
			reader.terminate(t)
			again := reader.spans(t)
			spantest.CheckStructure(t, again)
			assert.Equal(t, linkCounts(live, service, "handoff"), linkCounts(again, name, "handoff"))
			if format.Name != "orca" { // the format lacks lock classes
				spantest.CheckPingPong(t, again, name, truth)
			}
		})
	}
}

// linkCounts counts the links of a kind by the threads at their ends.
func linkCounts(o *output, service, kind string) map[string]int {
	counts := make(map[string]int)
	for _, l := range o.Links(service, kind) {
		cause := int64(0)
		if l.To != nil {
			cause = l.To.Number("thread.id")
		}
		counts[fmt.Sprintf("%d -> %d", cause, l.From.Number("thread.id"))]++
	}
	return counts
}
