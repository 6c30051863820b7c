// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package agentcontrolextension

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
)

type fake struct{ name string }

func (f *fake) Control(_ context.Context, options map[string]string) (Status, error) {
	return Status{Options: map[string]string{"by": f.name, "depth": options["depth"]}}, nil
}

func (*fake) Controllable() bool { return true }

func TestAgentIsFoundWhileItIsRegistered(t *testing.T) {
	session, other := jvmthread.SessionID{1}, jvmthread.SessionID{2}
	_, err := Control(t.Context(), session, nil)
	require.ErrorIs(t, err, ErrNotConnected)

	first := Register(session, &fake{"first"})
	second := Register(session, &fake{"second"})
	last := Register(other, &fake{"other"})
	first() // too late: the second has taken its place
	status, err := Control(t.Context(), session, map[string]string{"depth": "3"})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"by": "second", "depth": "3"}, status.Options)

	second()
	last()
	_, ok := Lookup(session)
	assert.False(t, ok)
	assert.Empty(t, registry.agents)
}
