// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool -modfile=../../tools/go.mod mdatagen metadata.yaml

// Package agentcontrolextension answers: which agents are connected to this collector, and how does another component control one?
// The jvm_thread receiver registers each agent for as long as it is connected. Other components, such as the thread_view exporter,
// look up the agent of a session:
//
//	registry, err := agentcontrolextension.Find(host, cfg.AgentControl)
//	agent, ok := registry.Lookup(session)
//	status, err := agent.Control(ctx, map[string]string{"pause": "on"})
//
// Keys and values are the agent's options (agent/README.md), such as depth, pause (on, off) and snapshot (now).
package agentcontrolextension
