// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadviewexporter

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configauth"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension/extensionauth"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/metadata"
	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/internal/viewapi"
)

// The page controls agents through an extension.
func TestControlNeedsItsExtension(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.HTTP.NetAddr.Endpoint, cfg.Control = "localhost:0", true
	e, err := newExporter(cfg, exportertest.NewNopSettings(metadata.Type))
	require.NoError(t, err)
	require.EqualError(t, e.start(t.Context(), componenttest.NewNopHost()),
		`control: extension "agent_control" not found; configure it under extensions and add it to service::extensions`)
	control, err := agentcontrolextension.NewFactory().Create(t.Context(), extensiontest.NewNopSettings(cfg.AgentControl.Type()),
		agentcontrolextension.NewFactory().CreateDefaultConfig())
	require.NoError(t, err)
	require.NoError(t, e.start(t.Context(), hostWith{cfg.AgentControl: control}))
	_, body := get(t, e.url()+"api/info")
	var info viewapi.Info
	require.NoError(t, json.Unmarshal(body, &info))
	assert.True(t, info.Control)
	require.NoError(t, e.shutdown(context.Background()))
}

// The Collector's own authentication extensions control access.
func TestAuthentication(t *testing.T) {
	id := component.MustNewID("gatekeeper")
	host := hostWith{id: &gatekeeper{}}
	e := startExporter(t, host, func(c *Config) {
		c.HTTP.Auth = configoptional.Some(confighttp.AuthConfig{Config: configauth.Config{AuthenticatorID: id}})
	})
	for _, path := range []string{"", "api/info", "api/sessions", "app.js"} {
		status, _ := get(t, e.url()+path)
		assert.Equal(t, http.StatusUnauthorized, status, path)
		status, _ = get(t, e.url()+path, "Authorization", "please")
		assert.Equal(t, http.StatusOK, status, path)
	}
	status, _ := get(t, e.url()+"mcp")
	assert.Equal(t, http.StatusUnauthorized, status, "assistants")
	status, _ = get(t, e.url()+"mcp", "Authorization", "please")
	assert.Equal(t, http.StatusMethodNotAllowed, status, "they do not GET")
}

// A browser requests a name and a password of its user only if it is challenged.
func TestAuthenticationChallenges(t *testing.T) {
	for id, want := range map[component.ID]string{
		component.MustNewIDWithName("basicauth", "page"): `Basic realm="Weft"`, component.MustNewID("oidc"): "Bearer",
	} {
		e := startExporter(t, hostWith{id: &gatekeeper{}}, func(c *Config) {
			c.HTTP.Auth = configoptional.Some(confighttp.AuthConfig{Config: configauth.Config{AuthenticatorID: id}})
		})
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.url(), http.NoBody)
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, http.StatusUnauthorized, resp.StatusCode)
		assert.Equal(t, want, resp.Header.Get("WWW-Authenticate"), id)
		http.DefaultClient.CloseIdleConnections()
	}
}

type hostWith map[component.ID]component.Component

func (h hostWith) GetExtensions() map[component.ID]component.Component { return h }

// gatekeeper accepts requests with the header "Authorization: please".
type gatekeeper struct {
	component.StartFunc
	component.ShutdownFunc
}

var _ extensionauth.Server = (*gatekeeper)(nil)

func (*gatekeeper) Authenticate(ctx context.Context, header map[string][]string) (context.Context, error) {
	if h := header["Authorization"]; len(h) == 1 && h[0] == "please" {
		return ctx, nil
	}
	return ctx, assert.AnError
}
