// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Command weft is the command line tool of Weft: it summarizes traces and recordings, and loads the agent into running JVMs. The collector
// is a separate program, weft-collector.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/printable"
)

// version is set by the linker. If it is empty, the version of the module is used.
var version string

const usage = `weft shows why the threads of a JVM wait.

Usage:
  weft summary [--top N] [--format text|json] FILE...   summarize traces or recordings
  weft attach PID [KEY=VALUE...]                        load the agent, or change its options
  weft detach PID                                       stop the agent
  weft version                                          print the version
  weft help [COMMAND]                                   describe a command

The collector, which produces the traces, is a separate program: weft-collector.
`

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // the command failed, or succeeded in part only
	exitUsage  = 2 // invalid command line
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stdout, stderr = printable.Writer(stdout), printable.Writer(stderr) // whatever a command forgets
	err := dispatch(args, stdin, stdout)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, new(usageError)):
		fmt.Fprintf(stderr, "weft: %s\nRun 'weft %s' for usage.\n", printable.Text(err.Error()), strings.TrimSpace("help "+about(args)))
		return exitUsage
	default:
		fmt.Fprintf(stderr, "weft: %v\n", err)
		return exitFailed
	}
}

// about returns the command that was given, if there is help on it.
func about(args []string) string {
	if len(args) > 0 {
		if _, ok := help[args[0]]; ok {
			return args[0]
		}
	}
	return ""
}

// help is the help texts of the commands that have options.
var help = map[string]string{
	"summary": summaryUsage, "attach": attachUsage, "detach": detachUsage,
}

const commands = "summary, attach, detach, version or help"

func dispatch(args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) == 0 {
		return usagef("no command given: want %s", commands)
	}
	switch command, rest := args[0], args[1:]; command {
	case "summary":
		return runSummary(rest, stdin, stdout)
	case "attach", "detach":
		return runAttach(command, rest, stdout)
	case "version", "--version", "-version":
		if len(rest) > 0 && !isHelp(rest[0]) {
			return usagef("version: unexpected argument %q", rest[0])
		}
		_, err := fmt.Fprintf(stdout, "weft %s\n", versionText())
		return err
	default:
		if isHelp(command) {
			return runHelp(rest, stdout)
		}
		return unknown(command)
	}
}

func isHelp(word string) bool {
	return slices.Contains([]string{"help", "--help", "-help", "-h"}, word)
}

func unknown(command string) error {
	return usagef("unknown command %q: want %s", command, commands)
}

func runHelp(args []string, stdout io.Writer) error {
	text := usage
	if len(args) > 0 && args[0] != "version" && !isHelp(args[0]) {
		var ok bool
		if text, ok = help[args[0]]; !ok {
			return unknown(args[0])
		}
	}
	_, err := io.WriteString(stdout, text)
	return err
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

// usageError is an error in the command line.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }
