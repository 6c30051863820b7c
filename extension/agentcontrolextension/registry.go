// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package agentcontrolextension

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/collector/component"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Registry holds the agents connected to this collector, by session. It is safe for concurrent use.
type Registry interface {
	// Register adds the agent of a session and replaces the one registered before. The returned function removes the agent, unless
	// another one has replaced it since.
	Register(session jvmthread.SessionID, agent Agent) (unregister func(), err error)
	// Connected reports whether the agent of a session is registered.
	Connected(session jvmthread.SessionID) bool
	// Control calls the same method of the agent of a session, or returns ErrNotConnected.
	Control(ctx context.Context, session jvmthread.SessionID, options map[string]string) (current map[string]string, err error)
}

// Agent is a connected agent. It is safe for concurrent use.
type Agent interface {
	// Control changes options and waits for the agent's answer, for some seconds if ctx has no deadline. Without options it only
	// requests the current ones. An agent applies all changes or, if any of them is invalid, none: see AgentError. It answers with the current
	// values of all options that can be changed at runtime.
	Control(ctx context.Context, options map[string]string) (current map[string]string, err error)
}

var (
	// ErrNotConnected means that no agent of the session is registered. It may reconnect.
	ErrNotConnected = errors.New("no agent of this session accepts remote control: it is disconnected, or its jvm_thread receiver lacks remote_control: true")
	// ErrDisconnected means that the connection ended before the agent answered. It may or may not have applied the change.
	ErrDisconnected = errors.New("the agent's connection ended before it answered")
)

// AgentError is returned when the agent rejects a request. The message is one line that names the option and the remedy.
type AgentError struct{ Message string }

func (e *AgentError) Error() string { return "the agent rejected the request: " + e.Message }

// Find returns the registry that the extension with the given ID provides.
func Find(host component.Host, id component.ID) (Registry, error) {
	switch found := host.GetExtensions()[id].(type) {
	case Registry:
		return found, nil
	case nil:
		return nil, fmt.Errorf("extension %q not found; configure it under extensions and add it to service::extensions", id)
	default:
		return nil, fmt.Errorf("extension %q is not an %s extension; name one that is", id, DefaultID().Type())
	}
}

type registry struct {
	component.StartFunc
	component.ShutdownFunc // agents unregister when their receiver shuts down, which is before its extensions do

	maxAgents int

	mu     sync.Mutex
	agents map[jvmthread.SessionID]Agent
}

var _ Registry = (*registry)(nil)

func newRegistry(maxAgents int) *registry {
	return &registry{maxAgents: maxAgents, agents: make(map[jvmthread.SessionID]Agent)}
}

func (r *registry) Register(session jvmthread.SessionID, agent Agent) (unregister func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.agents[session]; !ok && len(r.agents) >= r.maxAgents {
		return nil, fmt.Errorf("%d agents are registered already; raise max_agents of the %s extension", len(r.agents), DefaultID().Type())
	}
	r.agents[session] = agent
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.agents[session] == agent {
			delete(r.agents, session)
		}
	}, nil
}

func (r *registry) Connected(session jvmthread.SessionID) bool { return r.agent(session) != nil }

func (r *registry) Control(ctx context.Context, session jvmthread.SessionID, options map[string]string) (map[string]string, error) {
	agent := r.agent(session)
	if agent == nil {
		return nil, ErrNotConnected
	}
	return agent.Control(ctx, options)
}

// agent returns the agent of a session; nil: none is registered.
func (r *registry) agent(session jvmthread.SessionID) Agent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.agents[session]
}
