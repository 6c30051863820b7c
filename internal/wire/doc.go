// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package wire reads and writes the frames of the stream protocol between agent and receiver, version 1. It keeps no state between frames;
// package definitions resolves ids, and package wiretext has the text form of the test vectors.
//
// protocol/README.md is the specification. Its tables of names, numbers and fields and the agent's C header are generated from spec.go
// (go generate ./internal/wire).
package wire

//go:generate go run ./genheader -header ../../agent/src/wire/wire_kinds.h -spec ../../protocol/README.md
