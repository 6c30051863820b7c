// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadviewexporter

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/weft-otel/weft/internal/assistant"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// asking returns the SDK's client of the page's server.
func asking(t *testing.T, url string) *mcp.ClientSession {
	t.Helper()
	own := &http.Transport{}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: url + "mcp", HTTPClient: &http.Client{Transport: own}, DisableStandaloneSSE: true,
	}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, client.Close())
		own.CloseIdleConnections()
	})
	return client
}

// More assistants than the page has places ask at the same time as browsers; all get their answers, with links to the page at its path.
func TestAssistantsAndBrowsersShareThePage(t *testing.T) {
	e := startExporter(t, componenttest.NewNopHost(), func(c *Config) { c.PathPrefix = "/weft/" })
	require.NoError(t, e.consume(t.Context(), carriers(t, testSession, 3, threadpdata.EndExit)))
	tools := []string{"list_sessions", "hottest_locks", "list_incidents", "who_is_stuck", "deadlocks", "why", "critical_path"}
	var all sync.WaitGroup
	for range 10 {
		c := asking(t, e.url())
		for _, tool := range tools {
			all.Go(func() {
				result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: struct{}{}})
				if err != nil || result.IsError {
					t.Errorf("%s: %v, %+v", tool, err, result)
					return
				}
				text, ok := result.Content[0].(*mcp.TextContent)
				assert.True(t, ok && strings.Contains(text.Text, "\nPage: "+e.url()), "%v", result.Content)
			})
		}
		all.Go(func() {
			status, _ := get(t, e.url()+"api/sessions/"+testSession.String()+"/locks")
			assert.Equal(t, http.StatusOK, status)
		})
	}
	all.Wait()
}

// Requests to mcp are guarded and bounded like those of the page.
func TestGuardOfAssistants(t *testing.T) {
	e := startExporter(t, componenttest.NewNopHost(), func(c *Config) { c.AllowedHosts = []string{"weft.example.com"} })
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	own := &http.Transport{}
	defer own.CloseIdleConnections()
	for _, test := range []struct {
		name, method, host, body string
		header                   [2]string
		want                     int
		text                     string
	}{
		{"a request", http.MethodPost, "", list, [2]string{}, http.StatusOK, `"explain_span"`},
		{"an allowed host", http.MethodPost, "weft.example.com", list, [2]string{}, http.StatusOK, `"explain_span"`},
		{"a rebound name", http.MethodPost, "evil.example.com", list, [2]string{}, http.StatusForbidden, "add it to allowed_hosts"},
		{"a foreign origin", http.MethodPost, "", list, [2]string{"Origin", "http://evil.example.com"}, http.StatusForbidden, "cross-origin"},
		{"a cross-site script", http.MethodPost, "", list, [2]string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden, "cross-origin"},
		{"a form", http.MethodPost, "", list, [2]string{"Content-Type", "text/plain"}, http.StatusUnsupportedMediaType, "application/json"},
		{"a stream", http.MethodGet, "", "", [2]string{}, http.StatusMethodNotAllowed, ""},
		{"the end of a session", http.MethodDelete, "", "", [2]string{}, http.StatusMethodNotAllowed, ""},
		{"a long request", http.MethodPost, "", `"` + strings.Repeat("x", assistant.MaxRequest) + `"`, [2]string{}, http.StatusRequestEntityTooLarge, "exceeds"},
		{"no JSON", http.MethodPost, "", `{`, [2]string{}, http.StatusBadRequest, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), test.method, e.url()+"mcp", strings.NewReader(test.body))
			require.NoError(t, err)
			req.Host = test.host
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			if test.header[0] != "" {
				req.Header.Set(test.header[0], test.header[1])
			}
			resp, err := own.RoundTrip(req)
			require.NoError(t, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			assert.Equal(t, test.want, resp.StatusCode, "%s", body)
			assert.Contains(t, string(body), test.text)
			assert.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
		})
	}
}
