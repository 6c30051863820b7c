// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package command answers: how is a command line of weft run in this process? The program does so, and so do tests of what users read.
package command

import (
	"io"

	"github.com/weft-otel/weft/cmd/weft/internal/commands"
)

// Run executes a command line and returns the exit code. Version is what weft says of itself.
func Run(version string, in io.Reader, out, err io.Writer, args ...string) int {
	return commands.Run(&commands.Program{Version: version, In: in, Out: out, Err: err}, args)
}
