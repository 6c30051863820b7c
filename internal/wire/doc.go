// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package wire reads and writes the stream protocol between the agent and the receiver, version 1: its frames, and their text form, which the
// test vectors use. It keeps no state between frames; package definitions resolves ids.
//
// protocol/README.md is the specification. Its tables of names, numbers and fields and the agent's C header are generated from spec.go
// (go generate ./internal/wire).
package wire

//go:generate go run ./genheader -header ../../agent/src/wire/wire_kinds.h -spec ../../protocol/README.md
