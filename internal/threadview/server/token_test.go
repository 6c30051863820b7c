// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/weft-otel/weft/internal/threadview/server"
)

const refused = "the token is missing or wrong: open the whole address that weft view printed, or send its token as Authorization: Bearer TOKEN"

// Whatever the page serves needs the token, which a browser gives up for a cookie.
func TestProtected(t *testing.T) {
	page := server.Protected(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.URL.Path)
	}), "SECRET")
	ask := func(method, url string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, url, http.NoBody)
		for i := 0; i < len(header); i += 2 {
			r.Header.Add(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		page.ServeHTTP(w, r)
		return w
	}
	const host = "http://127.0.0.1:4711"

	first := ask(http.MethodGet, host+"/?token=SECRET")
	assert.Equal(t, http.StatusSeeOther, first.Code)
	assert.Equal(t, http.Header{
		"Location": {"/"}, "Set-Cookie": {"weft-4711=SECRET; Path=/; HttpOnly; SameSite=Strict"}, "Cache-Control": {"no-store"},
		"Referrer-Policy": {"no-referrer"}, "Content-Type": {"text/plain; charset=utf-8"}, "X-Content-Type-Options": {"nosniff"},
	}, first.Header())
	assert.Empty(t, first.Body.String())

	for _, path := range []string{"/", "/app.js", "/api/events", "/api/sessions/0/control", "/mcp"} {
		for name, header := range map[string][]string{
			"cookie":                       {"Cookie", "weft-4711=SECRET"},
			"after that of another server": {"Cookie", "weft-4711=STALE; weft-4711=SECRET"},
			"bearer":                       {"Authorization", "Bearer SECRET"},
		} {
			w := ask(http.MethodPost, host+path, header...)
			assert.Equal(t, path, w.Body.String(), name)
			assert.Equal(t, http.StatusOK, w.Code, name)
		}
		body, kind := "weft: "+refused+"\n", "text/plain; charset=utf-8"
		if len(path) > 5 && path[:5] == "/api/" {
			body, kind = `{"error":"`+refused+`","parameter":""}`+"\n", "application/json"
		}
		for name, header := range map[string][]string{
			"nothing":                  nil,
			"cookie of another port":   {"Cookie", "weft-4712=SECRET"},
			"longer":                   {"Cookie", "weft-4711=SECRETS"},
			"shorter":                  {"Authorization", "Bearer SECRE"},
			"another scheme":           {"Authorization", "Basic SECRET"},
			"no word":                  {"Authorization", "Bearer "},
			"a site, and not the page": {"Sec-Fetch-Site", "same-site"},
		} {
			w := ask(http.MethodGet, host+path, header...)
			assert.Equal(t, http.StatusUnauthorized, w.Code, name)
			assert.Equal(t, body, w.Body.String(), name)
			assert.Equal(t, kind, w.Header().Get("Content-Type"), name)
			assert.Equal(t, "Bearer", w.Header().Get("WWW-Authenticate"), name)
			assert.Equal(t, "no-referrer", w.Header().Get("Referrer-Policy"), name)
			assert.Empty(t, w.Header().Get("Set-Cookie"), name)
		}
	}
	for _, r := range [][2]string{{http.MethodGet, "/?token=WRONG"}, {http.MethodGet, "/?token="}, {http.MethodPost, "/?token=SECRET"}, {http.MethodGet, "/api/info?token=SECRET"}} {
		assert.Equal(t, http.StatusUnauthorized, ask(r[0], host+r[1]).Code, r)
	}

	// Another site links to the page: once more without that site, for which a browser sends the cookie.
	again := ask(http.MethodGet, host+"/", "Sec-Fetch-Site", "cross-site")
	assert.Equal(t, "0; url=/", again.Header().Get("Refresh"))
	assert.Equal(t, "The page opens.\n", again.Body.String())
	assert.Equal(t, http.StatusUnauthorized, ask(http.MethodGet, host+"/api/info", "Sec-Fetch-Site", "cross-site").Code)
}
