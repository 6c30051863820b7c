// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"io"
	"net/http"
)

// inProcess passes requests to a handler without a connection.
type inProcess struct{ handler http.Handler }

func (t inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	a := answer{header: http.Header{}, status: http.StatusOK}
	t.handler.ServeHTTP(&a, req)
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{
		Status: http.StatusText(a.status), StatusCode: a.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: a.header,
		Body: io.NopCloser(&a.body), ContentLength: int64(a.body.Len()), Request: req,
	}, nil
}

// answer collects what a handler writes.
type answer struct {
	header http.Header
	body   bytes.Buffer
	status int
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) { a.status = status }

func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }
