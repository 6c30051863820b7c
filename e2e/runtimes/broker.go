// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package runtimes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// QuickStart are options of a JVM that runs for seconds.
var QuickStart = []string{"-XX:TieredStopAtLevel=1", "-Xmx256m"}

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

// Broker describes a broker of Kafka that is its own controller.
type Broker struct {
	Java                string   // the program
	ClassPath           string   // with the jars of Kafka
	Address, Controller string   // where it listens
	More                []string // lines of its properties
}

// Prepare formats the storage of the broker in a folder. It returns the arguments of the JVM that runs it.
func (b *Broker) Prepare(ctx context.Context, folder string) (args []string, err error) {
	properties := filepath.Join(folder, "server.properties")
	text := fmt.Sprintf(brokerProperties, b.Address, b.Controller, filepath.Join(folder, "data")) + strings.Join(b.More, "\n") + "\n"
	if err := os.WriteFile(properties, []byte(text), 0o600); err != nil {
		return nil, err
	}
	program := slices.Concat(QuickStart, []string{"-cp", b.ClassPath})
	format := slices.Concat(program, []string{"kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", properties})
	if out, err := exec.CommandContext(ctx, b.Java, format...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("format the storage of Kafka: %w\n%s", err, out)
	}
	return append(program, "kafka.Kafka", properties), nil
}
