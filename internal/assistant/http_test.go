// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/page"
)

const listing = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_sessions","arguments":{}}}`

func post(ctx context.Context, h http.Handler, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost:8090/weft/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// A call ends when its client has left, so that its place becomes free.
func TestClientLeaves(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan struct{})
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		leave()
		<-r.Context().Done()
		close(ended)
	})
	post(ctx, Handler("1.2.3", page.Of(silent), "/weft/"), listing)
	<-ended
}

// Links have the host of the request and the path of the page.
func TestLinksOverHTTP(t *testing.T) {
	st := newStore()
	simulated(t, st, 1, 3, 2, 50)
	h := Handler("1.2.3", page.Of(pageOf(t, st)), "/weft/")
	w := post(t.Context(), h, listing)
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Contains(t, w.Body.String(), `Page: http://localhost:8090/weft/\n`)
	assert.Contains(t, post(t.Context(), h, listing, "X-Forwarded-Proto", "https").Body.String(), `Page: https://localhost:8090/weft/\n`)
}

// BenchmarkRequest is the cost of a request over HTTP, each of which has a server of its own.
func BenchmarkRequest(b *testing.B) {
	h := Handler("1.2.3", page.Of(pageOf(b, newStore())), "/")
	b.ReportAllocs()
	for b.Loop() {
		post(b.Context(), h, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`)
	}
}
