// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// Incidents say what is kept of their timeline, before and after the session has lost all of it; then files are refused with the reason.
func TestIncidentsAfterEviction(t *testing.T) {
	const second = jvmthread.Time(time.Second)
	st, sym := store.New(1<<20, nil), symbols.New(symbols.DefaultLimits())
	add := func(s *store.Session, n, intervals int) {
		w := &window.Window{Start: jvmthread.Time(n) * second, End: jvmthread.Time(n+1) * second, Cut: window.CutTime}
		lane := &window.Lane{Thread: 1}
		for i := range intervals {
			at := w.Start + jvmthread.Time(i)*1000
			lane.Intervals.Append(&jvmthread.Interval{Thread: 1, Seq: jvmthread.Seq(n*intervals + i + 1), State: jvmthread.StateRunnable + jvmthread.State(i%2), Start: at, End: at + 1000})
		}
		w.Lanes = append(w.Lanes, lane)
		s.Append(w, sym)
	}
	s := st.Open(sessionID, store.Meta{"service.name": "orders"})
	for n := range 40 {
		add(s, n, 2000)
		if n == 0 || n == 5 || n == 39 {
			at := jvmthread.Time(n) * second
			s.AddIncident(store.Incident{
				IncidentID: store.IncidentID{Start: at, First: 1}, End: at + second/2, Name: "contention Book", Text: "a held Book", Blocked: time.Duration(1 + n),
				Waits: []store.IncidentPart{{Thread: 7, Name: "b", Trace: strings.Repeat("1", 32), Span: strings.Repeat("2", 16)}},
			})
		}
	}
	view := server.New(st, server.Config{TraceURL: "http://jaeger/trace/{trace_id}?uiFind={span_id}"})
	t.Cleanup(view.Close)
	ask := func(path string) (int, string) {
		r := httptest.NewRequest(http.MethodGet, "/api/sessions/"+sessionID.String()+path, http.NoBody)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		view.Handler().ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	timelines := func(path string) (out []string) {
		status, body := ask(path)
		require.Equal(t, http.StatusOK, status, body)
		var got viewapi.Incidents
		require.NoError(t, json.Unmarshal([]byte(body), &got))
		assert.Equal(t, len(got.Incidents), got.Total)
		for _, inc := range got.Incidents {
			out = append(out, inc.Timeline)
			assert.Equal(t, "http://jaeger/trace/"+strings.Repeat("1", 32)+"?uiFind="+strings.Repeat("2", 16), inc.Waits[0].Request.URL)
			assert.NotNil(t, inc.Holds)
		}
		return out
	}
	require.Greater(t, s.Snapshot().From, 6*second)
	assert.Equal(t, []string{"whole", "gone", "gone"}, timelines("/incidents"))
	assert.Equal(t, []string{"gone"}, timelines("/incidents?from=0&to=1000000000"))
	status, body := ask("/interval?thread=1&at=1")
	assert.Equal(t, http.StatusNotFound, status)
	assert.Contains(t, body, "before the history that is kept")

	s.Close(window.CutEnd)
	for i := range 200 { // short JVMs that ended later take the place of its windows
		job := st.Open(jvmthread.SessionID{0: 9, 15: byte(i)}, nil)
		add(job, 0, 500)
		job.Close(window.CutEnd)
	}
	assert.Equal(t, []string{"gone", "gone", "gone"}, timelines("/incidents"))
	for _, path := range []string{"/download", "/export?table=threads"} {
		status, body = ask(path)
		assert.Equal(t, http.StatusGone, status, path)
		assert.Contains(t, body, "its 3 incidents are at api/sessions/"+sessionID.String()+"/incidents")
	}
	for _, path := range []string{"", "/threads", "/lanes", "/answer", "/path", "/minimap", "/locks"} {
		status, body = ask(path)
		assert.Equal(t, http.StatusOK, status, "%s: %s", path, body)
	}
}
