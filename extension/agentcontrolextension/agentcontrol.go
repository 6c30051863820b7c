// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package agentcontrolextension answers: which agents are connected to this process, and how does a component ask one of them for something? The
// jvm_thread receiver registers each agent as long as its connection lasts; whatever runs in the same collector, such as a page for people,
// finds it here by its session:
//
//	status, err := agentcontrolextension.Control(ctx, session, map[string]string{"pause": "on"})
//
// Keys and values are the agent's options (agent/README.md): depth, pause (on, off), snapshot (now) and so on. A nil map changes nothing and
// asks for the options in effect. An agent takes all of a request or, if anything in it is wrong, nothing; what is wrong is then in the
// returned error, an *AgentError, one line that names the key and the remedy.
//
// Whether an agent lets itself be controlled is the receiver's configuration (remote_control, which is off unless it is switched on).
package agentcontrolextension

import (
	"context"
	"errors"
	"sync"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// Errors that Control returns as they are; test with errors.Is.
var (
	// ErrNotConnected: no agent of this session is connected now. It may come back.
	ErrNotConnected = errors.New("no agent of this session is connected")
	// ErrDisabled: the receiver does not let agents be controlled.
	ErrDisabled = errors.New("remote control is off; set remote_control: true in the configuration of the jvm_thread receiver")
	// ErrDisconnected: the connection ended before the agent answered. Whether it did what it was asked is not known.
	ErrDisconnected = errors.New("the agent's connection ended before it answered")
)

// AgentError is what an agent found wrong with a request. It has done nothing of it.
type AgentError struct{ Message string }

func (e *AgentError) Error() string { return e.Message }

// Status is an agent's answer.
type Status struct {
	Options map[string]string // all that can be changed while it runs, as they are now
}

// Agent is a connected agent. Its methods may be called from any goroutine.
type Agent interface {
	// Control asks for a change and waits for the answer, until the context ends or, if it has no deadline, some seconds.
	Control(ctx context.Context, options map[string]string) (Status, error)
	// Controllable reports whether Control can be more than ErrDisabled: for a page, whether to show its buttons.
	Controllable() bool
}

var registry = struct { //nolint:gochecknoglobals // components of a collector have no other place in common
	sync.Mutex

	agents map[jvmthread.SessionID]Agent
}{agents: make(map[jvmthread.SessionID]Agent)}

// Register makes the agent known under its session, in place of one that was before. The returned function makes it unknown again, unless
// another has taken its place.
func Register(session jvmthread.SessionID, agent Agent) (unregister func()) {
	registry.Lock()
	defer registry.Unlock()
	registry.agents[session] = agent
	return func() {
		registry.Lock()
		defer registry.Unlock()
		if registry.agents[session] == agent {
			delete(registry.agents, session)
		}
	}
}

// Lookup returns the agent of a session, false if none is connected.
func Lookup(session jvmthread.SessionID) (Agent, bool) {
	registry.Lock()
	defer registry.Unlock()
	agent, ok := registry.agents[session]
	return agent, ok
}

// Control asks the agent of a session for a change: see Agent.
func Control(ctx context.Context, session jvmthread.SessionID, options map[string]string) (Status, error) {
	agent, ok := Lookup(session)
	if !ok {
		return Status{}, ErrNotConnected
	}
	return agent.Control(ctx, options)
}
