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
)

const attachUsage = `weft attach [--agent FILE] [--timeout TIME] PID [KEY=VALUE...]

Loads the agent into a JVM that runs already (HotSpot on Linux; no JDK is needed), as the user of the JVM or as root. The keys and values
are the agent's options, such as endpoint=unix:///tmp/weft.sock. What the threads were found to be blocked on is the beginning of the
session. If the agent is there already, its options are changed:

  weft attach 4711 depth=8 pause=on     and on with pause=off
  weft attach 4711 snapshot=now

It prints where events go and whether they arrive there, and the options in effect. A JVM of version 21 or later warns on its standard error that an agent was loaded.

  --agent FILE    the agent's library; default: libweft.so beside this program, in ../lib or in ./build
  --timeout TIME  how long to wait for the JVM; default: 10s
`

const detachUsage = `weft detach [--agent FILE] [--timeout TIME] PID

Makes the agent in a JVM inert: nothing is recorded and nothing is sent any more. The library stays loaded; weft attach begins anew.
Flags as of weft attach.
`

func runAttach(args []string, stdout io.Writer) error {
	return attachTo("attach", args, stdout, func(options []string) ([]string, error) { return options, nil })
}

func runDetach(args []string, stdout io.Writer) error {
	return attachTo("detach", args, stdout, func(options []string) ([]string, error) {
		if len(options) > 0 {
			return nil, usagef("detach: takes no options, but there is %q", options[0])
		}
		return []string{"detach=now"}, nil
	})
}

func attachTo(command string, args []string, stdout io.Writer, options func([]string) ([]string, error)) error {
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
		return usagef("%s: --timeout is %v: give it more than 0, such as 10s", command, *timeout)
	case len(words) == 0:
		return usagef("%s: no process id given; jps or ps -C java tells them", command)
	}
	pid, err := strconv.Atoi(words[0])
	if err != nil || pid < 1 {
		return usagef("%s: %q is no process id; jps or ps -C java tells them", command, words[0])
	}
	request := attach.Request{PID: pid, Library: *library}
	if request.Options, err = options(words[1:]); err != nil {
		return err
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
		return fmt.Errorf("%s: %w", command, err)
	}
	if result.Warning != "" {
		fmt.Fprintf(stdout, "# %s\n", result.Warning)
	}
	if result.Connection != "" {
		fmt.Fprintf(stdout, "# %s\n", result.Connection)
	}
	for _, option := range result.Options {
		fmt.Fprintln(stdout, option)
	}
	return nil
}

// findLibrary looks where the library is after an installation and after a build.
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
	return "", fmt.Errorf("attach: there is no %s; give its path with --agent", strings.Join(places, ", "))
}
