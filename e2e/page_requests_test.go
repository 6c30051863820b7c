// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/viewapi"
)

// TestPageListsRequests puts a Tomcat with OpenTelemetry's Java agent under load, and compares the slowest requests that the page lists with the
// spans that the Java agent exported, and with the waits that the program measured.
func TestPageListsRequests(t *testing.T) {
	classpath := withJars(t, "requests")
	require.True(t, exists(built("weft-otel.jar")), "run make build/weft-otel.jar")
	address := freeAddress(t)
	c := startCollector(t, withOTLP(setup{}, address))
	options := append(exporting(address), "-Dotel.javaagent.extensions="+built("weft-otel.jar"),
		"-agentpath:"+built("libweft.so")+"=endpoint="+c.endpoint+everything)
	s := shops[0]
	holds := s.serve(t, jdks[0], classpath, shopPause, options...)
	var sessions viewapi.Sessions
	poll(t, "the page has the whole session", func() bool {
		fromPage(t, c, "sessions", &sessions)
		return len(sessions.Sessions) == 1 && !sessions.Sessions[0].Live
	})
	var listed viewapi.Requests
	fromPage(t, c, "sessions/"+sessions.Sessions[0].ID+"/requests?limit=100", &listed)
	r := newServed(t, c.finish(t, s.name), s.name, holds)

	require.True(t, listed.Known)
	require.Len(t, listed.Requests, 100)
	compared, differ, held := 0, 0, map[string]int{}
	for i := range listed.Requests {
		row := &listed.Requests[i]
		root := r.slow[row.TraceID]
		if root == nil {
			continue // the job that holds everything
		}
		compared++
		assert.Equal(t, root.Name(), row.Name)
		assert.True(t, row.Whole)
		// A thread can lose its processor between what the SDK and what the extension see.
		exported := int64(root.EndTimestamp() - root.StartTimestamp())
		assert.InEpsilon(t, exported, row.Time, 0.2, "duration of %s", row.TraceID)
		if float64(max(exported-row.Time, row.Time-exported)) > 0.05*float64(exported) {
			differ++
		}
		var waited, busy int64
		for _, h := range r.holds[row.TraceID] {
			waited += h.Acquired - h.Called
			busy += h.Busy
		}
		assert.LessOrEqual(t, row.Waited, row.Time)
		assert.GreaterOrEqual(t, float64(row.Waited+busy), 0.95*float64(waited), "waits of %s", row.TraceID)
		if row.Worst != nil && row.Worst.Holder != nil {
			held[row.Worst.Object]++
		}
	}
	assert.LessOrEqual(t, differ, compared/20, "durations that differ by more than 5 percent")
	t.Logf("%d slow requests, held up at %v", compared, held)
	assert.Greater(t, compared, 50)
	assert.Greater(t, held["Inventory.lock"]+held["Prices.lock"]+held["HikariPool"], compared/2)
}
