// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/extension/agentcontrolextension"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest/await"
	"github.com/weft-otel/weft/internal/threadtest/wiretext"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

// agents is a registry that remembers the last agent.
type agents struct {
	agentcontrolextension.Registry

	last agentcontrolextension.Agent
}

func (a *agents) Register(session jvmthread.SessionID, agent agentcontrolextension.Agent) (unregister func(), err error) {
	a.last = agent
	return a.Registry.Register(session, agent)
}

// newRegistry returns a registry of agents.
func newRegistry(t *testing.T) *agents {
	t.Helper()
	factory := agentcontrolextension.NewFactory()
	extension, err := factory.Create(t.Context(), extensiontest.NewNopSettings(factory.Type()), factory.CreateDefaultConfig())
	require.NoError(t, err)
	return &agents{Registry: extension.(agentcontrolextension.Registry)}
}

// startControlled returns a server whose agents can be controlled, and its log.
func startControlled(t *testing.T) (*running, *agents) {
	t.Helper()
	registry := newRegistry(t)
	return startWith(t, Settings{Out: outlettest.New(t, nil, outlettest.NewSink()), Agents: registry}, nil), registry
}

// control reads a control frame, as text.
func (a *agent) control() string {
	a.tb.Helper()
	frame := a.next(wire.FrameControl)
	var c wire.Control
	require.NoError(a.tb, frame.Control(&c))
	var b strings.Builder
	fmt.Fprint(&b, c.ID)
	for _, o := range c.Options {
		fmt.Fprintf(&b, " %s=%s", o.Key, o.Value)
	}
	return b.String()
}

// known waits until the agent can be controlled.
func known(t *testing.T, registry *agents) agentcontrolextension.Agent {
	t.Helper()
	await.Until(t, "the agent is registered", func() bool { return registry.Connected(orders) })
	return registry.last
}

// unknown waits until the agent can no longer be controlled.
func unknown(t *testing.T, registry *agents) {
	t.Helper()
	await.Until(t, "the agent is not registered", func() bool { return !registry.Connected(orders) })
}

type answer struct {
	current map[string]string
	err     error
}

func ask(ctx context.Context, agent agentcontrolextension.Agent, options map[string]string) <-chan answer {
	got := make(chan answer, 1)
	go func() {
		current, err := agent.Control(ctx, options)
		got <- answer{current, err}
	}()
	return got
}

func TestControlIsAnswered(t *testing.T) {
	r, agents := startControlled(t)
	a := dial(t, r)
	a.greet(hello)
	connected := known(t, agents)

	got := ask(t.Context(), connected, map[string]string{"pause": "on", "depth": "8"})
	assert.Equal(t, "1 depth=8 pause=on", a.control())
	a.send(`status id=1 error="" "depth"="8" "pause"="on"`)
	first := <-got
	require.NoError(t, first.err)
	assert.Equal(t, map[string]string{"pause": "on", "depth": "8"}, first.current)

	got = ask(t.Context(), connected, map[string]string{"dept": "8"})
	assert.Equal(t, "2 dept=8", a.control())
	a.send(`status id=1 error="an answer without a request"` + "\n" + `status id=2 error="option \"dept\": unknown option"`)
	var refused *agentcontrolextension.AgentError
	require.ErrorAs(t, (<-got).err, &refused)
	assert.Equal(t, `option "dept": unknown option`, refused.Message)

	ctx, cancel := context.WithCancel(t.Context())
	got = ask(ctx, connected, nil)
	assert.Equal(t, "3", a.control())
	cancel()
	require.ErrorIs(t, (<-got).err, context.Canceled)

	got = ask(t.Context(), connected, nil)
	assert.Equal(t, "4", a.control())
	require.NoError(t, a.conn.Close())
	require.ErrorIs(t, (<-got).err, agentcontrolextension.ErrDisconnected)
	unknown(t, agents)
	require.ErrorIs(t, (<-ask(t.Context(), connected, nil)).err, agentcontrolextension.ErrDisconnected)
}

// An agent that reads only a part of a frame in time must not take a later frame for the rest of it.
func TestNothingFollowsAPartialFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := newRegistry(t)
		r, p := startWithPipesAnd(t, Settings{Out: outlettest.New(t, nil, outlettest.NewSink()), Agents: registry}, nil)
		conn, there := net.Pipe()
		p.conns <- there
		stream, err := wiretext.AppendStream(nil, hello)
		require.NoError(t, err)
		_, err = conn.Write(stream)
		require.NoError(t, err)
		_, err = io.ReadFull(conn, make([]byte, len(wire.AppendWelcome(nil, 0))))
		require.NoError(t, err)
		synctest.Wait()
		got := ask(t.Context(), known(t, registry), map[string]string{"depth": "8"})
		_, err = io.ReadFull(conn, make([]byte, wire.FrameHeaderSize))
		require.NoError(t, err)
		require.Error(t, (<-got).err, "the agent does not read the rest")
		_, err = conn.Write(make([]byte, wire.FrameHeaderSize))
		require.ErrorIs(t, err, io.ErrClosedPipe)
		require.NoError(t, conn.Close())
		r.stop()
	})
}

func TestRequestsAreLimited(t *testing.T) {
	r, agents := startControlled(t)
	a := dial(t, r)
	a.greet(hello)
	connected := known(t, agents)
	got := make([]<-chan answer, maxPending)
	for i := range got {
		got[i] = ask(t.Context(), connected, nil)
		a.control()
	}
	require.ErrorContains(t, (<-ask(t.Context(), connected, nil)).err, "16 requests are unanswered")
	for i := range got {
		a.send(fmt.Sprintf("status id=%d", i+1))
	}
	for i := range got {
		require.NoError(t, (<-got[i]).err)
	}
	require.ErrorContains(t, (<-ask(t.Context(), connected, map[string]string{"service": strings.Repeat("x", wire.MaxControl-9)})).err, "take 65544 bytes")
}

func TestAgentOptionsAreSentAtConnect(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	out := outlettest.New(t, nil, outlettest.NewSink())
	out.Log = zap.New(core)
	r := startWith(t, Settings{Out: out, AgentOptions: map[string]string{"depth": "8", "park": "off"}}, nil)
	a := dial(t, r)
	a.greet(hello)
	assert.Equal(t, "1 depth=8 park=off", a.control())
	a.send(`status id=1 error="option \"park\": no"`)
	await.Until(t, "the answer is logged", func() bool { return logs.Len() == 1 })
	assert.Equal(t, `option "park": no`, logs.All()[0].ContextMap()["error"])

	late := dial(t, r)
	late.greet(strings.Replace(helloOf(2), "pid=42", "pid=42 acked=7", 1))
	assert.Equal(t, "1 depth=8 park=off snapshot=now", late.control(), "another receiver has the states of its threads")
}
