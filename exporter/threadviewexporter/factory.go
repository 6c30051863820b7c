// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadviewexporter

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/weft-otel/weft/exporter/threadviewexporter/internal/metadata"
)

// NewFactory returns the factory of the thread_view exporter.
func NewFactory() exporter.Factory {
	return exporter.NewFactory(metadata.Type, createDefaultConfig, exporter.WithTraces(createTraces, metadata.TracesStability))
}

// createTraces makes an exporter without a queue, since it sends nothing.
func createTraces(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	e, err := newExporter(cfg.(*Config), set)
	if err != nil {
		return nil, err
	}
	return exporterhelper.NewTraces(ctx, set, cfg, e.consume,
		exporterhelper.WithStart(e.start), exporterhelper.WithShutdown(e.shutdown),
		exporterhelper.WithTimeout(exporterhelper.TimeoutConfig{}), exporterhelper.WithCapabilities(consumer.Capabilities{}))
}
