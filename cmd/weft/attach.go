// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/agent/attach"
	"github.com/weft-otel/weft/internal/printable"
)

const attachUsage = `weft attach [--agent FILE] [--timeout TIME] PID [KEY=VALUE...]

Loads the agent into a running JVM (HotSpot on Linux; no JDK needed). Run it as the user of the JVM
or as root. KEY=VALUE sets an option of the agent, such as endpoint=tcp://localhost:4327; without
it, the agent looks for the collector at the default sockets, in the JVM's environment. The session
starts with a snapshot of what each thread is blocked on. If the agent is already loaded,
attach changes its options:

  weft attach 4711 depth=8 pause=on     resume with pause=off
  weft attach 4711 snapshot=now

It prints the destination of the events, whether they arrive there, whether OpenTelemetry's SDK in
the JVM reports its current spans, and the options in effect. JVMs of version 21 and later print a
warning about the loaded agent on their standard error.

  --agent FILE    the agent library
                  (default: libweft.so in the directory of this program, in ../lib or in ./build)
  --timeout TIME  how long to wait for the JVM (default 10s)
`

const detachUsage = `weft detach [--agent FILE] [--timeout TIME] PID

Stops the agent in a JVM: it no longer records or sends events. The library stays loaded; weft
attach starts a new session. The flags are those of weft attach.
`

// runAttach runs the commands attach and detach.
func runAttach(command string, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	library := flags.String("agent", "", "")
	timeout := flags.Duration("timeout", 10*time.Second, "")
	words, err := parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return runHelp([]string{command}, stdout)
	case err != nil:
		return usagef("%s: %v", command, err)
	case *timeout <= 0:
		return usagef("%s: invalid --timeout %v: want a positive duration such as 10s", command, *timeout)
	case len(words) == 0:
		return usagef("%s: no process ID given; list the JVMs with jps or ps -C java", command)
	}
	pid, err := strconv.Atoi(words[0])
	if err != nil || pid < 1 {
		return usagef("%s: %q is not a process ID; list the JVMs with jps or ps -C java", command, words[0])
	}
	request := attach.Request{PID: pid, Library: *library, Options: words[1:]}
	if command == "detach" {
		if len(request.Options) > 0 {
			return usagef("detach: unexpected argument %q", request.Options[0])
		}
		request.Options = []string{"detach=now"}
	}
	if request.Library == "" {
		if request.Library, err = findLibrary(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), *timeout)
	defer cancel()
	result, err := attach.Attach(ctx, request)
	if err != nil {
		return fmt.Errorf("%s: %s", command, printable.Text(err.Error()))
	}
	printResult(stdout, &result)
	return nil
}

// printResult prints what the agent reported, which the JVM's user could have written, too.
func printResult(stdout io.Writer, result *attach.Result) {
	if result.Warning != "" {
		fmt.Fprintf(stdout, "# %s\n", printable.Text(result.Warning))
	}
	if result.Connection != "" {
		fmt.Fprintf(stdout, "# %s\n", printable.Text(result.Connection))
	}
	for _, note := range result.Notes {
		fmt.Fprintf(stdout, "# %s\n", printable.Text(note))
	}
	for _, option := range result.Options {
		fmt.Fprintln(stdout, printable.Text(option))
	}
}

// findLibrary looks for the library where an installation and a build put it.
func findLibrary() (string, error) {
	const name = "libweft.so"
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("attach: %w", err)
	}
	dir := filepath.Dir(program)
	places := []string{filepath.Join(dir, name), filepath.Join(dir, "..", "lib", name), filepath.Join("build", name)}
	for _, place := range places {
		if _, err := os.Stat(place); !errors.Is(err, os.ErrNotExist) {
			return place, nil
		}
	}
	return "", fmt.Errorf("attach: agent library not found at %s; set its path with --agent", strings.Join(places, ", "))
}
