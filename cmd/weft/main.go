// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Command weft is what a person types: it tells what the traces of a run say, and gets the agent into JVMs. The collector itself is weft-collector.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// version is set by the linker; without that the module's version is told.
var version string

const usage = `weft tells why the threads of a JVM wait.

Usage:
  weft summary [--top N] [--format text|json] FILE...   what traces say at a glance
  weft attach PID [KEY=VALUE...]                        load the agent into a JVM, or control it
  weft detach PID                                       make the agent in a JVM inert
  weft version                                          which version this is
  weft help [COMMAND]                                   more about a command

The collector that makes the traces is weft-collector.
`

// Codes that the program ends with.
const (
	exitOK     = 0
	exitFailed = 1 // it was asked rightly, but could not do it, or not all of it
	exitUsage  = 2 // it was asked wrongly
)

// errUsage marks what a user has to type differently.
var errUsage = errors.New("usage")

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	err := dispatch(args, stdin, stdout)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errUsage):
		fmt.Fprintf(stderr, "weft: %v\nRun 'weft %s' for how to use it.\n", err, strings.TrimSpace("help "+about(args)))
		return exitUsage
	default:
		fmt.Fprintf(stderr, "weft: %v\n", err)
		return exitFailed
	}
}

// about is the command that was meant, if there is help about it.
func about(args []string) string {
	if len(args) > 0 {
		if _, ok := help[args[0]]; ok {
			return args[0]
		}
	}
	return ""
}

// help is the texts about commands that have options.
var help = map[string]string{
	"summary": summaryUsage, "attach": attachUsage, "detach": detachUsage,
}

func dispatch(args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) == 0 {
		return usagef("no command given; the commands are summary, attach, detach, version and help")
	}
	switch command, rest := args[0], args[1:]; command {
	case "summary":
		return runSummary(rest, stdin, stdout)
	case "attach":
		return runAttach(rest, stdout)
	case "detach":
		return runDetach(rest, stdout)
	case "version", "--version", "-version":
		if len(rest) > 0 && !isHelp(rest[0]) {
			return usagef("version: takes nothing, but there is %q", rest[0])
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
	return usagef("there is no command %q; the commands are summary, attach, detach, version and help", command)
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

// usageError is a mistake in what was typed.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func (e usageError) Is(target error) bool { return target == errUsage }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }
