// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// agent is an agent that accepts all options except one.
type agent struct{ options map[string]string }

type registry map[jvmthread.SessionID]*agent

var errNotConnected = errors.New("not connected")

func (r registry) Connected(session jvmthread.SessionID) bool { return r[session] != nil }

func (r registry) Control(_ context.Context, session jvmthread.SessionID, options map[string]string) (map[string]string, error) {
	a := r[session]
	switch {
	case a == nil:
		return nil, errNotConnected
	case options["depth"] == "x":
		return nil, errors.New("the agent rejected the request: depth: want a number")
	}
	maps.Copy(a.options, options)
	return maps.Clone(a.options), nil
}

func TestControl(t *testing.T) {
	st := store.New(math.MaxInt64, nil)
	st.Open(sessionID, nil)
	a := &agent{options: map[string]string{"pause": "off", "depth": "32"}}
	agents := registry{sessionID: a}
	path := "/api/sessions/" + sessionID.String() + "/control"
	call := func(enabled bool, method, body string, header ...string) (int, viewapi.ControlAnswer) {
		var cfg server.Config
		if enabled {
			cfg.Agents = agents
		}
		view := server.New(st, cfg)
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Host = "localhost:8090"
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		view.Handler().ServeHTTP(w, r)
		var out viewapi.ControlAnswer
		if w.Code == http.StatusOK {
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &out))
		}
		return w.Code, out
	}

	status, out := call(true, http.MethodGet, "")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, &viewapi.Control{Options: map[string]string{"pause": "off", "depth": "32"}}, out.Control)
	_, out = call(true, http.MethodPost, `{"action":"pause"}`)
	assert.True(t, out.Done)
	assert.True(t, out.Control.Paused)
	_, out = call(true, http.MethodPost, `{"action":"resume"}`)
	assert.False(t, out.Control.Paused)
	_, out = call(true, http.MethodPost, `{"action":"options","options":{"depth":"8"}}`)
	assert.Equal(t, "8", out.Control.Options["depth"])
	status, out = call(true, http.MethodPost, `{"action":"options","options":{"depth":"x"}}`)
	assert.Equal(t, http.StatusOK, status)
	assert.False(t, out.Done)
	assert.Equal(t, "the agent rejected the request: depth: want a number", out.Message)
	assert.Equal(t, "8", a.options["depth"])

	for name, c := range map[string]struct {
		enabled bool
		body    string
		header  []string
		want    int
	}{
		"not enabled":       {false, `{"action":"pause"}`, nil, http.StatusMethodNotAllowed},
		"no action":         {true, `{}`, nil, http.StatusBadRequest},
		"invalid JSON":      {true, `pause`, nil, http.StatusBadRequest},
		"an unknown field":  {true, `{"action":"pause","force":true}`, nil, http.StatusBadRequest},
		"empty options":     {true, `{"action":"options"}`, nil, http.StatusBadRequest},
		"a cross-site form": {true, `{"action":"pause"}`, []string{"Content-Type", "text/plain"}, http.StatusUnsupportedMediaType},
		"a foreign origin":  {true, `{"action":"pause"}`, []string{"Origin", "http://evil.example.com"}, http.StatusForbidden},
		"oversized body":    {true, `{"action":"` + strings.Repeat("x", 1<<17) + `"}`, nil, http.StatusBadRequest},
	} {
		status, _ := call(c.enabled, http.MethodPost, c.body, c.header...)
		assert.Equal(t, c.want, status, name)
	}
	assert.Equal(t, "off", a.options["pause"])

	delete(agents, sessionID)
	_, out = call(true, http.MethodGet, "")
	assert.Equal(t, viewapi.ControlAnswer{Message: errNotConnected.Error()}, out)
}
