// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadlogexporter

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/weft-otel/weft/exporter/threadlogexporter/internal/metadata"
)

// NewFactory returns the factory of the thread_log exporter.
func NewFactory() exporter.Factory {
	return exporter.NewFactory(metadata.Type, createDefaultConfig,
		exporter.WithTraces(createTraces, metadata.TracesStability))
}

func createTraces(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	t, err := newThreadLog(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	return exporterhelper.NewTraces(ctx, set, cfg, t.push,
		exporterhelper.WithStart(t.start), exporterhelper.WithShutdown(t.shutdown),
		exporterhelper.WithCapabilities(consumer.Capabilities{MutatesData: false}),
		exporterhelper.WithTimeout(exporterhelper.TimeoutConfig{Timeout: 0}), // writing files has no timeout
	)
}
