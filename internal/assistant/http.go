// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"context"
	"net/http"
	"net/url"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/weft-otel/weft/internal/page"
)

// request is what tools know of the HTTP request that calls them.
type request struct {
	base *url.URL
	gone func(stop func()) (forget func() bool) // calls stop when the client has left
}

type requestKey struct{}

// Handler serves MCP over HTTP (the transport Streamable HTTP, without sessions). Links lead to the page at a path of the host of each request.
// It refuses no hosts and no origins: the server of the page does, which knows the names that are allowed.
func Handler(version string, client *page.Client, path string) http.Handler {
	server := New(version, client, nil)
	protocol := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: MaxRequest, PropagateRequestCancellation: true, DisableLocalhostProtection: true,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		base := &url.URL{Scheme: "http", Host: r.Host, Path: path}
		if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" { // a proxy has the certificate
			base.Scheme = "https"
		}
		ctx := r.Context()
		of := &request{base, func(stop func()) func() bool { return context.AfterFunc(ctx, stop) }}
		protocol.ServeHTTP(w, r.WithContext(context.WithValue(ctx, requestKey{}, of)))
	})
}

// linksFor returns the address of the page as the client knows it; nil: answers have no links.
func (s *tools) linksFor(ctx context.Context) *url.URL {
	if of, ok := ctx.Value(requestKey{}).(*request); ok {
		return of.base
	}
	return s.base
}

// untilGone cancels a call when its client has left. The SDK does so only for protocols of 2026 and later.
func untilGone(ctx context.Context, cancel func()) (forget func() bool) {
	if of, ok := ctx.Value(requestKey{}).(*request); ok {
		return of.gone(cancel)
	}
	return func() bool { return true }
}
