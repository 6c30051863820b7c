// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package wire reads and writes version 1 of the stream protocol between agent and receiver: its frames, and their text form, which is used
// by the test vectors. It keeps no state between frames; package definitions resolves ids.
//
// protocol/README.md is the specification. Its tables of names, numbers and fields and the agent's C header are generated from spec.go
// (go generate ./internal/wire).
package wire

//go:generate go run ./genheader -header ../../agent/src/wire/wire_kinds.h -spec ../../protocol/README.md
