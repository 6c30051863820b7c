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
	"syscall"
	"testing"
	"time"

	"github.com/weft-otel/weft/e2e/runtimes"
)

const brokerProperties = `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@%[2]s
listeners=PLAINTEXT://%[1]s,CONTROLLER://%[2]s
controller.listener.names=CONTROLLER
log.dirs=%[3]s
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
`

// startsQuickly are options of a JVM that runs for seconds.
var startsQuickly = []string{"-XX:TieredStopAtLevel=1", "-Xmx256m"}

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
	dir := t.TempDir()
	properties := filepath.Join(dir, "server.properties")
	if err := os.WriteFile(properties, fmt.Appendf(nil, brokerProperties, address, controller, filepath.Join(dir, "data")), 0o600); err != nil {
		return "", err
	}
	_, path := cutAtClassPath(client)
	path = path[:2]
	format := []string{"kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", properties}
	if out, err := jvm(ctx, j, slices.Concat(startsQuickly, path, format)).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	broker := jvm(ctx, j, slices.Concat(options, startsQuickly, path, []string{"kafka.Kafka", properties}))
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
