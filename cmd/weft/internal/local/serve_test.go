// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/internal/local/localtest"
	"github.com/weft-otel/weft/internal/page"
)

// The address of the page opens it; without it, another user of the machine gets nothing.
func TestServedPageNeedsItsToken(t *testing.T) {
	const file = "../commands/testdata/checkout.weft.zst"
	p, err := localtest.Open(t, file)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- p.Serve(ctx, "127.0.0.1:0", func(url string) { ready <- url }) }()
	defer func() {
		stop()
		assert.NoError(t, <-ended)
	}()
	address, err := url.Parse(<-ready)
	require.NoError(t, err)
	token := address.Query().Get("token")
	assert.Regexp(t, `^[A-Z2-7]{26}$`, token)

	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	base := "http://" + address.Host + "/"
	get := func(client *http.Client, url string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		require.NoError(t, err)
		resp, err := client.Do(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	stranger, browser := &http.Client{Transport: transport}, &http.Client{Transport: transport, Jar: jar}
	paths := []string{"app.js", "api/info", "api/sessions", "mcp"}
	for _, path := range paths {
		assert.Equal(t, http.StatusUnauthorized, get(browser, base+path), path)
	}
	assert.Equal(t, http.StatusOK, get(browser, address.String()))
	for _, path := range paths {
		assert.Equal(t, http.StatusUnauthorized, get(stranger, base+path), path)
	}
	for _, path := range paths[:3] {
		assert.Equal(t, http.StatusOK, get(browser, base+path), path)
	}
	assert.Equal(t, http.StatusMethodNotAllowed, get(browser, base+"mcp"), "assistants do not GET")

	client, err := page.New(address.String(), transport)
	require.NoError(t, err)
	list, err := client.Sessions(t.Context())
	require.NoError(t, err)
	assert.Len(t, list.Sessions, 1)
	client, err = page.New(base, transport)
	require.NoError(t, err)
	_, err = client.Sessions(t.Context())
	require.EqualError(t, err, "/api/sessions: the token is missing or wrong: open the whole address that weft view printed, or send its token as Authorization: Bearer TOKEN")
}
