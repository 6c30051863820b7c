// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:generate go tool -modfile=../../tools/go.mod mdatagen metadata.yaml

// Package jvmthreadreceiver answers: what do agents and recordings report? It receives events from the agents inside JVMs
// (internal/stream), reads them from files (internal/file), and sends them downstream as carriers: raw events in the form of traces
// (internal/outlet). Other components interpret them.
package jvmthreadreceiver

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"

	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/metadata"
)

// NewFactory returns the factory of the jvm_thread receiver.
func NewFactory() receiver.Factory {
	return receiver.NewFactory(metadata.Type, createDefaultConfig,
		receiver.WithTraces(createTraces, metadata.TracesStability))
}

func createTraces(_ context.Context, set receiver.Settings, cfg component.Config, next consumer.Traces) (receiver.Traces, error) {
	return newThreadReceiver(set, cfg.(*Config), next)
}
