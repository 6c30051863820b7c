// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Command weft is the command line tool of Weft: it shows why the threads of JVMs wait, live or from recordings. The collector, which sends
// spans and metrics to other tools, is a separate program, weft-collector.
package main

import (
	"os"
	"runtime/debug"

	"github.com/weft-otel/weft/cmd/weft/command"
)

// version is set by the linker. If it is empty, the version of the module is used.
var version string

func main() {
	os.Exit(command.Run(versionText(), os.Stdin, os.Stdout, os.Stderr, os.Args[1:]...))
}

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
