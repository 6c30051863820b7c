// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// A request that panics gets an error that says so. The server goes on.
func TestPanicOfARequest(t *testing.T) {
	failure.ContainIn(t)
	broken, logged := true, []error{}
	v := New(store.New(1<<20, nil), Config{
		Notice: func() string {
			if broken {
				panic("bug")
			}
			return "none"
		},
		Log: func(_ string, err error) { logged = append(logged, err) },
	})
	server := httptest.NewServer(v.Handler())
	defer server.Close()
	get := func() (status int, said viewapi.Error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/info", http.NoBody)
		require.NoError(t, err)
		res, err := server.Client().Do(req)
		require.NoError(t, err)
		defer func() { assert.NoError(t, res.Body.Close()) }()
		require.NoError(t, json.NewDecoder(res.Body).Decode(&said))
		return res.StatusCode, said
	}
	status, said := get()
	assert.Equal(t, http.StatusInternalServerError, status)
	assert.Regexp(t, `^a defect in Weft: panic: bug \(guard_test.go:\d+\); please report it with the line in the log of the server$`, said.Error)
	require.Len(t, logged, 1)
	require.ErrorAs(t, logged[0], new(*failure.Panic))
	broken = false
	status, _ = get()
	assert.Equal(t, http.StatusOK, status)
}

// A client notices that the rest of a response is missing.
func TestPanicInTheMiddleOfAResponse(t *testing.T) {
	failure.ContainIn(t)
	v := New(store.New(1<<20, nil), Config{})
	h := v.contained(func(w http.ResponseWriter, _ *http.Request) *Problem {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic("bug")
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h(w, r) }))
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	require.NoError(t, err)
	res, err := server.Client().Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	assert.Equal(t, "half", string(body))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}
