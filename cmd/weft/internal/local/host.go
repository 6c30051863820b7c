// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package local

import (
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pcommon"
	noopmetric "go.opentelemetry.io/otel/metric/noop"
	nooptrace "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"
)

// host is what components find of the collector that they are not in.
type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

// telemetry is that of a component that reports nothing but its log.
func telemetry(logger *zap.Logger) component.TelemetrySettings {
	return component.TelemetrySettings{
		Logger: logger, TracerProvider: nooptrace.NewTracerProvider(), MeterProvider: noopmetric.NewMeterProvider(), Resource: pcommon.NewResource(),
	}
}
