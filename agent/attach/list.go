// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"context"
	"time"
)

// JVM is a HotSpot JVM on this machine. Its user chose the texts: escape them for a terminal.
type JVM struct {
	PID       int       // in the PID namespace of this program, also if the JVM is in a container
	MainClass string    // or the path of the jar, or the module; the name of the program if it is another launcher than java
	User      string    // effective; the number if it has no name here
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

// List returns the HotSpot JVMs of this machine, also those in containers, ordered by process ID. JVMs that exit meanwhile are left out.
// If an agent is loaded, List requests its report and waits for it for some seconds at most.
func List(ctx context.Context) ([]JVM, error) { return list(ctx) }
