// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool -modfile=../../tools/go.mod mdatagen metadata.yaml

// Package jvmthreadreceiver answers: what do agents and recordings report? It receives events from the agents inside JVMs
// (internal/stream), reads them from files (internal/file), and sends them downstream as carriers: raw events in the form of traces
// (internal/outlet). Other components interpret them.
package jvmthreadreceiver
