// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package wire answers: what do the bytes between the agent and the receiver mean? It reads and writes the frames of the stream
// protocol, version 1, and their text form, which the test vectors use. It does not keep state between frames: what a definition is good
// for is the business of its caller.
//
// protocol/README.md is the specification; the tables in spec.go are its truth for names, numbers and fields, and the C header of the
// agent is generated from them (go generate ./internal/wire).
package wire

//go:generate go run ./genheader -header ../../agent/src/wire/wire_kinds.h -spec ../../protocol/README.md
