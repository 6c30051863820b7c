// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/weft-otel/weft/e2e/runtimes"
)

// withBroker runs a client of Kafka. The address of its broker replaces HOST and PORT.
func withBroker(t *testing.T, j runtimes.JDK, args []string) (truth string, err error) {
	t.Helper()
	recorder, client := cutAtClassPath(args)
	return clientAndBroker(t, j, nil, slices.Concat(recorder, client))
}

// asBroker runs a broker while an unrecorded client, the program, uses it.
func asBroker(t *testing.T, j runtimes.JDK, args []string) (truth string, err error) {
	t.Helper()
	recorder, client := cutAtClassPath(args)
	return clientAndBroker(t, j, recorder, client)
}

// cutAtClassPath separates the options of a recorder from a command.
func cutAtClassPath(args []string) (recorder, command []string) {
	at := slices.Index(args, "-cp")
	return args[:at], args[at:]
}

// clientAndBroker runs a broker with options of the JVM, and a client. It returns what the client prints.
func clientAndBroker(t *testing.T, j runtimes.JDK, options, client []string) (truth string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	address, err := freeAddress()
	if err != nil {
		return "", err
	}
	controller, err := freeAddress()
	if err != nil {
		return "", err
	}
	_, path := cutAtClassPath(client)
	kafka := runtimes.Broker{Java: filepath.Join(j.Home, "bin", "java"), ClassPath: path[1], Address: address, Controller: controller}
	args, err := kafka.Prepare(ctx, t.TempDir())
	if err != nil {
		return "", err
	}
	broker := jvm(ctx, j, slices.Concat(options, args))
	var said bytes.Buffer
	broker.Stdout, broker.Stderr = &said, &said
	if err := broker.Start(); err != nil {
		return "", err
	}
	truth, err = afterListening(ctx, address, func() (string, error) { return alone(false)(t, j, at(client, address)) })
	err = errors.Join(err, broker.Process.Signal(syscall.SIGTERM))
	var code *exec.ExitError
	if ended := broker.Wait(); !errors.As(ended, &code) { // the code of a signal is none
		err = errors.Join(err, ended)
	}
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, said.String())
	}
	return truth, nil
}

// afterListening waits until a server listens.
func afterListening(ctx context.Context, address string, run func() (string, error)) (string, error) {
	for {
		connection, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			_ = connection.Close() // it was only opened
			return run()
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return "", fmt.Errorf("the server does not listen: %w", err)
		}
	}
}
