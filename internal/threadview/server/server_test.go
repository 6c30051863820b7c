// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

func TestForeignHostsAndOriginsAreRefused(t *testing.T) {
	view := server.New(store.New(math.MaxInt64, nil), server.Config{
		Prefix: "/weft/", Hosts: []string{"weft.example.com"}, Page: fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}},
	})
	for _, c := range []struct {
		name, host, path string
		header           [2]string
		want             int
	}{
		{"an address", "127.0.0.1:8090", "/weft/api/info", [2]string{}, http.StatusOK},
		{"an IPv6 address", "[::1]:8090", "/weft/api/info", [2]string{}, http.StatusOK},
		{"localhost", "localhost:8090", "/weft/api/info", [2]string{}, http.StatusOK},
		{"a configured name", "weft.example.com", "/weft/api/info", [2]string{}, http.StatusOK},
		{"a rebound name", "evil.example.com:8090", "/weft/api/info", [2]string{}, http.StatusForbidden},
		{"a rebound name for the page", "evil.example.com", "/weft/", [2]string{}, http.StatusForbidden},
		{"a similar name", "localhost.evil.example.com", "/weft/api/info", [2]string{}, http.StatusForbidden},
		{"the same origin", "localhost:8090", "/weft/api/info", [2]string{"Origin", "http://localhost:8090"}, http.StatusOK},
		{"a foreign origin", "localhost:8090", "/weft/api/info", [2]string{"Origin", "http://evil.example.com"}, http.StatusForbidden},
		{"an opaque origin", "localhost:8090", "/weft/api/info", [2]string{"Origin", "null"}, http.StatusForbidden},
		{"a cross-site script", "localhost:8090", "/weft/api/info", [2]string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		{"the page below the prefix", "localhost", "/weft/", [2]string{}, http.StatusOK},
		{"a path outside the prefix", "localhost", "/", [2]string{}, http.StatusNotFound},
		{"an unknown path", "localhost", "/weft/api/nothing", [2]string{}, http.StatusNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, c.path, http.NoBody)
			r.Host = c.host
			if c.header[0] != "" {
				r.Header.Set(c.header[0], c.header[1])
			}
			w := httptest.NewRecorder()
			view.Handler().ServeHTTP(w, r)
			assert.Equal(t, c.want, w.Code, w.Body)
			assert.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
			assert.NotContains(t, w.Header().Get("Content-Security-Policy"), "unsafe")
			assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		})
	}
}

// Each session appears on exactly one page of the list.
func TestSessionListIsPaged(t *testing.T) {
	f := newFixture(t, 1, 4, 2, 200, 500)
	const more = 230
	for i := range more {
		s := f.store.Open(jvmthread.SessionID{0: 2, 14: byte(i >> 8), 15: byte(i)}, store.Meta{"service.name": strings.Repeat("long", 300)})
		if i%2 == 0 {
			s.Append(&window.Window{End: 10, Cut: window.CutTime}, symbols.New(symbols.DefaultLimits()))
			s.Close(window.CutEnd)
		}
	}
	seen, total, live := map[string]bool{}, more+1, true
	for len(seen) < total {
		status, body := f.get(fmt.Sprintf("sessions?offset=%d", len(seen)))
		require.Equal(t, http.StatusOK, status, "%s", body)
		assert.LessOrEqual(t, len(body), 200_000)
		var page viewapi.Sessions
		require.NoError(t, json.Unmarshal(body, &page))
		assert.Equal(t, []int{total, len(seen)}, []int{page.Total, page.Offset})
		require.NotEmpty(t, page.Sessions)
		for _, s := range page.Sessions {
			assert.False(t, seen[s.ID], "listed once")
			seen[s.ID] = true
			assert.False(t, s.Live && !live, "live sessions come first")
			live = s.Live
		}
	}
	for query, want := range map[string]string{"limit=101": "limit: ", "offset=-1": "offset: ", "ofset=1": "ofset: unknown parameter"} {
		status, body := f.get("sessions?" + query)
		assert.Equal(t, http.StatusBadRequest, status)
		assert.Contains(t, string(body), want)
	}
}

func TestOnlyGetIsAllowed(t *testing.T) {
	f := newFixture(t, 1, 4, 2, 200, 500)
	resp, err := f.Client().Post(f.URL+"/api/sessions", "application/json", http.NoBody)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode)
}

func TestBadParametersAreExplained(t *testing.T) {
	f := newFixture(t, 1, 4, 2, 200, 500)
	for path, want := range map[string]string{
		"/lanes?width=x":              `width: want an integer from 1 to 4000, got "x"`,
		"/lanes?widht=3":              "widht: unknown parameter",
		"/lanes?from=9&to=3":          "from: must not be later than to",
		"/threads?name=(":             "name: invalid RE2 pattern",
		"/threads?sort=colour":        `sort: unknown field "colour"`,
		"/threads?threads=a":          `threads: want ids and ranges such as 1,5-9, got "a"`,
		"/threads?width=3&width=4":    "width: unknown parameter",
		"/threads?limit=1&limit=2":    "limit: given 2 times",
		"/interactions?kinds=wink":    `kinds: want some of none, start`,
		"/path?mode=sideways":         `mode: want one of bounded, unbounded, got "sideways"`,
		"/log?cursor=7":               "cursor: invalid",
		"/log?cursor=0%2B1000000000":  "cursor: invalid",
		"/search":                     "q: required",
		"/interval?thread=1":          "at: want a time, or the number of an interval in seq",
		"/interval?at=1":              "thread: required",
		"/callers?kind=x&sort=name":   `kind: want one of blocked, waited, reenter, parked, joined, sleeping, queued, suspended, got "x"`,
		"/threads?state=blocked,lazy": `state: want some of unknown, runnable`,
	} {
		status, body := f.get("sessions/" + sessionID.String() + path)
		var e viewapi.Error
		require.NoError(t, json.Unmarshal(body, &e))
		assert.Equal(t, http.StatusBadRequest, status, path)
		assert.Contains(t, e.Error, want)
		assert.NotEmpty(t, e.Parameter)
	}
	status, _ := f.get("sessions/nonsense")
	assert.Equal(t, http.StatusBadRequest, status)
	status, _ = f.get("sessions/" + strings.Repeat("ab", 16))
	assert.Equal(t, http.StatusNotFound, status)
}

func TestUnchangedResponseIsNotModified(t *testing.T) {
	f := newFixture(t, 1, 4, 2, 200, 500)
	url := f.URL + "/api/sessions/" + sessionID.String() + "/threads"
	resp, err := f.Client().Get(url)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	ask := func() int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		require.NoError(t, err)
		req.Header.Set("If-None-Match", resp.Header.Get("ETag"))
		again, err := f.Client().Do(req)
		require.NoError(t, err)
		require.NoError(t, again.Body.Close())
		return again.StatusCode
	}
	assert.Equal(t, http.StatusNotModified, ask())
	f.store.Open(sessionID, nil)
	assert.Equal(t, http.StatusOK, ask())
}

// An agent's status can change without a new window of its session; polling clients see the change.
func TestSessionShowsAgentStatus(t *testing.T) {
	st := store.New(math.MaxInt64, nil)
	st.Open(sessionID, nil)
	agents := registry{sessionID: &agent{options: map[string]string{"pause": "off"}}}
	handler := server.New(st, server.Config{Agents: agents}).Handler()
	call := func(method, path, body, known string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "/api/sessions/"+sessionID.String()+path, strings.NewReader(body))
		r.Host = "localhost:8090"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("If-None-Match", known)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	known := call(http.MethodGet, "", "", "").Header().Get("ETag")
	assert.Equal(t, http.StatusNotModified, call(http.MethodGet, "", "", known).Code)
	require.Equal(t, http.StatusOK, call(http.MethodPost, "/control", `{"action":"pause"}`, "").Code)
	again := call(http.MethodGet, "", "", known)
	require.Equal(t, http.StatusOK, again.Code, "the cached response is out of date")
	var s viewapi.Session
	require.NoError(t, json.Unmarshal(again.Body.Bytes(), &s))
	assert.True(t, s.Control.Paused)
}

// Event streams report each change at once, and nothing else.
func TestEventStreamReportsChanges(t *testing.T) {
	f := newFixture(t, 1, 4, 2, 200, 500)
	resp, err := f.Client().Get(f.URL + "/api/events")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, resp.Body.Close()) })
	assert.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	lines := bufio.NewScanner(resp.Body)
	next := func() (c viewapi.Change) {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				require.NoError(t, json.Unmarshal([]byte(data), &c))
				return c
			}
		}
		t.Error("no event")
		return c
	}
	first := next()
	require.Len(t, first.Sessions, 1)
	assert.False(t, first.Sessions[0].Live)
	f.store.Open(sessionID, nil)
	second := next()
	assert.Greater(t, second.Version, first.Version)
	assert.True(t, second.Sessions[0].Live)
}

// A long poll returns at once if something has changed, otherwise with the next change.
func TestLongPollWaitsForAChange(t *testing.T) {
	f := newFixture(t, 1, 4, 2, 200, 500)
	poll := func(query string) (c viewapi.Change) {
		status, body := f.get("changes" + query)
		assert.Equal(t, http.StatusOK, status)
		assert.NoError(t, json.Unmarshal(body, &c))
		return c
	}
	first := poll("?since=0")
	assert.Equal(t, first.Version, poll("?wait=1&since="+jsonNumber(first.Version)).Version)
	done := make(chan viewapi.Change)
	go func() { done <- poll("?since=" + jsonNumber(first.Version)) }()
	f.session.Close(window.CutLost)
	assert.Greater(t, (<-done).Version, first.Version)
}

func jsonNumber(n uint64) string {
	b, _ := json.Marshal(n) //nolint:errchkjson // a number
	return string(b)
}
