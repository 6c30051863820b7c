// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// JVM is a HotSpot JVM on this machine. Its user chose the texts: escape them for a terminal.
type JVM struct {
	PID       int       // in the PID namespace of this program, also if the JVM is in a container
	MainClass string    // or the path of the jar, or the module; the name of the program if it is another launcher than java
	UID       int       // effective
	User      string    // its name; the number if it has none here
	Version   string    // the system property java.version, such as 17.0.15
	Start     time.Time // to 10 ms
	Attach    error     // why this program cannot attach, with a remedy; nil if it can
	Unknown   error     // why Version and Agent are unknown, with a remedy; nil if they are not
	Agent     Agent
}

// Agent is the state of the agent in a JVM.
type Agent struct {
	Library string // path as the JVM sees it; empty if the agent is not loaded
	Report  Result // Connection is empty if the agent has no session
	Err     error  // why it sent no report
}

// Loaded reports whether the agent is in the JVM, with or without a session.
func (a *Agent) Loaded() bool { return a.Library != "" }

const (
	askTime   = 3 * time.Second // for an agent's report
	askAtOnce = 8
)

// List returns the HotSpot JVMs of this machine, also those in containers, ordered by process ID. JVMs that exit meanwhile are left out. It talks
// to none of them, so the reports of agents are empty.
func List(ctx context.Context) ([]JVM, error) { return list(ctx) }

// ListAgents is List with the report of each agent that is loaded, for which it waits for some seconds at most. A JVM that takes its first
// request starts a thread for that, its attach listener.
func ListAgents(ctx context.Context) ([]JVM, error) {
	all, err := list(ctx)
	if err != nil {
		return nil, err
	}
	askAll(ctx, all)
	return slices.DeleteFunc(all, func(j JVM) bool { return errors.Is(j.Agent.Err, ErrNoProcess) }), nil
}

func askAll(ctx context.Context, all []JVM) {
	var wait sync.WaitGroup
	free := make(chan struct{}, askAtOnce)
	for i := range all {
		agent := &all[i].Agent
		switch {
		case !agent.Loaded():
		case all[i].Attach != nil:
			agent.Err = all[i].Attach
		default:
			wait.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				ctx, cancel := context.WithTimeout(ctx, askTime)
				defer cancel()
				agent.Report, agent.Err = Ask(ctx, all[i].PID)
			})
		}
	}
	wait.Wait()
}
