// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/internal/threadtest"
)

// pageSessions has the fields of sessions that tests check.
type pageSessions struct {
	Sessions []struct {
		ID        string `json:"id"`
		Service   string `json:"service"`
		Live      bool   `json:"live"`
		Ended     string `json:"ended"`
		Missed    int64  `json:"missed"`
		Lost      int64  `json:"lost"`
		Intervals int    `json:"intervals"`
	} `json:"sessions"`
}

// fromPage requests a path from the API of the page of a collector.
func fromPage(t *testing.T, c *collector, path string, into any) {
	t.Helper()
	resp, err := http.Get("http://" + c.page + "/api/" + path) //nolint:noctx // in a test
	require.NoError(t, err)
	defer resp.Body.Close() //nolint:errcheck // read only
	require.Equal(t, http.StatusOK, resp.StatusCode, path)
	require.NoError(t, json.NewDecoder(resp.Body).Decode(into))
}

// TestPageAfterRestart checks that a directory preserves sessions across a restart.
func TestPageAfterRestart(t *testing.T) {
	folder := filepath.Join(threadtest.SocketDir(t), "sessions")
	keep := setup{more: []string{"yaml:exporters::thread_view::directory: " + folder}}
	c := startCollector(t, keep)
	var truth spantest.PingPong
	runJava(t, jdks[0], c.endpoint, "pingpong", &truth, "PingPong", "50")
	var list pageSessions
	poll(t, "the page shows that the session has ended", func() bool {
		fromPage(t, c, "sessions", &list)
		return len(list.Sessions) == 1 && !list.Sessions[0].Live
	})
	before := list.Sessions[0]
	c.terminate(t)

	c = startCollector(t, keep)
	fromPage(t, c, "sessions", &list)
	require.Len(t, list.Sessions, 1)
	assert.Equal(t, before, list.Sessions[0])
	assert.Equal(t, "end", before.Ended)
	assert.Zero(t, before.Missed)
	assert.Greater(t, before.Intervals, 2*truth.Handoffs)
	c.terminate(t)
}
