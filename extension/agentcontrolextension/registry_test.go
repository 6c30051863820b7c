// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package agentcontrolextension

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"

	"github.com/weft-otel/weft/extension/agentcontrolextension/internal/metadata"
	"github.com/weft-otel/weft/internal/jvmthread"
)

type fakeAgent struct{ name string }

func (f *fakeAgent) Control(_ context.Context, options map[string]string) (map[string]string, error) {
	return map[string]string{"by": f.name, "depth": options["depth"]}, nil
}

func TestRegisteredAgentIsFound(t *testing.T) {
	r := newRegistry(2)
	session, other := jvmthread.SessionID{1}, jvmthread.SessionID{2}
	_, err := r.Control(t.Context(), session, nil)
	require.ErrorIs(t, err, ErrNotConnected)
	register := func(session jvmthread.SessionID, name string) func() {
		unregister, err := r.Register(session, &fakeAgent{name})
		require.NoError(t, err)
		return unregister
	}

	first := register(session, "first")
	second := register(session, "second")
	last := register(other, "other")
	first() // has no effect: the second agent has replaced the first
	assert.True(t, r.Connected(session))
	current, err := r.Control(t.Context(), session, map[string]string{"depth": "3"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"by": "second", "depth": "3"}, current)

	second()
	last()
	assert.False(t, r.Connected(session))
	assert.Empty(t, r.agents)
}

func TestRegisteredAgentsAreLimited(t *testing.T) {
	r := newRegistry(1)
	unregister, err := r.Register(jvmthread.SessionID{1}, &fakeAgent{"first"})
	require.NoError(t, err)
	_, err = r.Register(jvmthread.SessionID{2}, &fakeAgent{"second"})
	require.EqualError(t, err, "1 agents are registered already; raise max_agents of the agent_control extension")
	_, err = r.Register(jvmthread.SessionID{1}, &fakeAgent{"third"})
	require.NoError(t, err, "replaces an agent")
	unregister()
	assert.True(t, r.Connected(jvmthread.SessionID{1}))
}

type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

func TestFindByID(t *testing.T) {
	named := component.NewIDWithName(metadata.Type, "blue")
	first, second := newRegistry(1), newRegistry(1)
	h := host{DefaultID(): first, named: second, component.MustNewID("other"): struct {
		component.StartFunc
		component.ShutdownFunc
	}{}}
	for id, want := range map[component.ID]*registry{DefaultID(): first, named: second} {
		found, err := Find(h, id)
		require.NoError(t, err)
		assert.Same(t, want, found)
	}
	_, err := Find(componenttest.NewNopHost(), named)
	require.EqualError(t, err, `extension "agent_control/blue" not found; configure it under extensions and add it to service::extensions`)
	_, err = Find(h, component.MustNewID("other"))
	require.EqualError(t, err, `extension "other" is not an agent_control extension; name one that is`)
}

func TestConfig(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, cfg.Validate())
	require.NoError(t, confmap.NewFromStringMap(map[string]any{"max_agents": 0}).Unmarshal(cfg))
	require.EqualError(t, cfg.Validate(), "max_agents: is 0; use 1 or more")
}
