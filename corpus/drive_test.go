// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-otel/weft/e2e/runtimes"
)

// patience with one program.
const patience = 10 * time.Minute

// driver runs a JVM with arguments until its program has done what is recorded. It returns what the program knows.
type driver func(t *testing.T, j runtimes.JDK, args []string) (truth string, err error)

// alone runs a program, which prints as its last line what it knows. If only that is allowed, it prints no other text.
func alone(only bool) driver {
	return func(t *testing.T, j runtimes.JDK, args []string) (string, error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := jvm(ctx, j, args)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
		if err != nil || only && (len(lines) != 1 || stderr.Len() > 0) {
			return "", fmt.Errorf("%v: %w: want one line of output:\n%s%s", args, err, stdout.String(), stderr.String())
		}
		return lines[len(lines)-1], nil
	}
}

// quoted runs a program that prints a line for people.
func quoted(t *testing.T, j runtimes.JDK, args []string) (string, error) {
	t.Helper()
	said, err := alone(true)(t, j, args)
	return strconv.Quote(said), err
}

// under puts a server under load, and stops it as an operator would. What Load.Run returns is the truth.
func under(load runtimes.Load) driver {
	return func(t *testing.T, j runtimes.JDK, args []string) (string, error) {
		t.Helper()
		address, err := freeAddress()
		if err != nil {
			return "", err
		}
		args = at(args, address)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := jvm(ctx, j, args)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			return "", err
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = cmd.Wait() // with the exit code of a signal
			cancel()
		}()
		truth, err := load.Run(ctx, address)
		err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM))
		<-ended
		if err != nil {
			return "", fmt.Errorf("%v: %w\n%s", args, err, said.String())
		}
		return truth, nil
	}
}

// at replaces HOST and PORT in arguments.
func at(args []string, address string) []string {
	host, port, _ := strings.Cut(address, ":")
	words := strings.NewReplacer("HOST", host, "PORT", port)
	args = slices.Clone(args)
	for i := range args {
		args[i] = words.Replace(args[i])
	}
	return args
}

// freeAddress returns an address at which no process listens.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// jvm is the command line of a JVM, without variables that add options or make JVMs print a line.
func jvm(ctx context.Context, j runtimes.JDK, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(j.Home, "bin", "java"), args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"}, name)
	})
	return cmd
}
