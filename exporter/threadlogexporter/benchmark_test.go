// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadlogexporter

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/exporter/threadlogexporter/internal/metadata"
	"github.com/weft-otel/weft/internal/threadtest"
)

// BenchmarkExport writes carriers to a file in each format. Most of the time is spent reading pdata.
func BenchmarkExport(b *testing.B) {
	for _, format := range writable() {
		b.Run(format, func(b *testing.B) {
			cfg := createDefaultConfig().(*Config)
			cfg.Format, cfg.Directory, cfg.Rotation.MaxBackups = format, b.TempDir(), 1
			e, err := NewFactory().CreateTraces(b.Context(), exportertest.NewNopSettings(metadata.Type), cfg)
			require.NoError(b, err)
			require.NoError(b, e.Start(b.Context(), componenttest.NewNopHost()))
			events, sym := threadtest.Recorded(1, 16, 8, 20_000)
			events = events[:2000]
			span := events[len(events)-1].Time
			number, before := uint64(1), uint64(0)
			next := func() ptrace.Traces {
				td := carriers(one, number, before, events, sym, "")
				number, before = number+1, before+uint64(len(events))
				for i := range events {
					events[i].Time += span
				}
				return td
			}
			n := 0
			for b.Loop() {
				b.StopTimer()
				batches := []ptrace.Traces{next(), next(), next(), next()}
				b.StartTimer()
				for _, td := range batches {
					require.NoError(b, e.ConsumeTraces(b.Context(), td))
					n += len(events)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
			require.NoError(b, e.Shutdown(b.Context()))
		})
	}
}
