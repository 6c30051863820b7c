// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool -modfile=../../tools/go.mod mdatagen metadata.yaml

// Package jvmthreadreceiver answers: what do the agents say? It listens for the agents inside JVMs, takes their events over the stream
// protocol (protocol/README.md) and hands them on as carriers: raw events in the shape of traces. What the events mean is the business of
// the components behind it.
//
// A connection is served by one goroutine, which owns the connection's session as long as it lasts: it reads a batch, waits until the next
// component has taken it, acknowledges it, and only then reads the next. So a slow pipeline slows the agent, which drops events and says so;
// nothing piles up here.
package jvmthreadreceiver
