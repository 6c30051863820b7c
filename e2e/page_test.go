// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/spantest"
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

// TestPageMatchesTheSpans checks that the tables of the page equal the program's own counts and the spans exactly. It then follows them
// to the longest interval and its blocker.
func TestPageMatchesTheSpans(t *testing.T) {
	onEachJDK(t, func(t *testing.T, j jdk) {
		c := startCollector(t, setup{})
		var truth spantest.PingPong
		runJava(t, j, c.endpoint, "pingpong", &truth, "PingPong", "200")
		c.waitForCut(t, "pingpong", "end")

		var list pageSessions
		poll(t, "the page shows that the session has ended", func() bool {
			fromPage(t, c, "sessions", &list)
			return len(list.Sessions) == 1 && !list.Sessions[0].Live
		})
		s := list.Sessions[0]
		assert.Equal(t, "pingpong", s.Service)
		assert.Equal(t, "end", s.Ended)
		assert.Zero(t, s.Lost+s.Missed)

		var table struct {
			Classes []struct {
				Class   string `json:"class"`
				Blocked struct {
					Count int64 `json:"count"`
					Time  int64 `json:"time"`
				} `json:"blocked"`
				Saving struct {
					Drag  int64 `json:"drag"`
					Bound int64 `json:"bound"`
				} `json:"saving"`
			} `json:"classes"`
		}
		fromPage(t, c, "sessions/"+s.ID+"/classes?sort=blocked.time&savings=true", &table)
		require.NotEmpty(t, table.Classes)
		hottest := table.Classes[0]
		assert.Equal(t, truth.Lock, hottest.Class)
		assert.EqualValues(t, truth.Handoffs, hottest.Blocked.Count)
		assert.LessOrEqual(t, hottest.Saving.Drag, hottest.Saving.Bound)

		var callers struct {
			Callers []struct {
				Method  string `json:"method"`
				Longest struct {
					Thread struct {
						ID int64 `json:"id"`
					} `json:"thread"`
					Time int64 `json:"time"`
				} `json:"longest"`
			} `json:"callers"`
		}
		fromPage(t, c, "sessions/"+s.ID+"/callers?class="+truth.Lock, &callers)
		require.NotEmpty(t, callers.Callers)
		assert.Contains(t, callers.Callers[0].Method, "PingPong")

		var interval struct {
			Title string `json:"title"`
			Why   string `json:"why"`
			Stack struct {
				Frames []string `json:"frames"`
			} `json:"stack"`
			Owner struct {
				Thread struct {
					ID int64 `json:"id"`
				} `json:"thread"`
			} `json:"owner"`
			Span struct {
				TraceID string `json:"trace_id"`
				SpanID  string `json:"span_id"`
			} `json:"span"`
		}
		longest := callers.Callers[0].Longest
		fromPage(t, c, fmt.Sprintf("sessions/%s/interval?thread=%d&at=%d", s.ID, longest.Thread.ID, longest.Time), &interval)
		assert.Equal(t, "handoff", interval.Why)
		assert.NotEmpty(t, interval.Stack.Frames)
		assert.ElementsMatch(t, truth.Players, []int64{longest.Thread.ID, interval.Owner.Thread.ID})

		o := c.finish(t, "pingpong")
		assert.Equal(t, o.LockTotal("pingpong", truth.Lock, "weft.lock.blocked.time"), hottest.Blocked.Time)
		spans := o.Of("pingpong", func(sp *span) bool {
			return sp.TraceID().String() == interval.Span.TraceID && sp.SpanID().String() == interval.Span.SpanID
		})
		if assert.Len(t, spans, 1, "the span on the page") {
			assert.Equal(t, interval.Title, spans[0].Name())
		}
	})
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
