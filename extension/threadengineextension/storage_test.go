// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadengineextension

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension/extensioncapabilities"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/weft-otel/weft/extension/threadengineextension/internal/metadatatest"
)

// Damaged files of the storages in use are set aside before components open them, and counted.
func TestDamagedStorageIsSetAside(t *testing.T) {
	telemetry := componenttest.NewTelemetry()
	set := metadatatest.NewSettings(telemetry)
	e, err := newThreadEngine(createDefaultConfig().(*Config), set)
	require.NoError(t, err)
	var watcher extensioncapabilities.ConfigSnapshotWatcher = e

	queues, journal, unused := t.TempDir(), t.TempDir(), t.TempDir()
	for _, path := range []string{
		filepath.Join(queues, "exporter_kafka__traces"), filepath.Join(queues, "exporter_otlp_grpc__traces"),
		filepath.Join(journal, "extension_thread_engine__journal"), filepath.Join(unused, "exporter_otlp_grpc__traces"),
	} {
		require.NoError(t, os.WriteFile(path, []byte("damaged"), 0o600))
	}
	config := confmap.NewFromStringMap(map[string]any{
		"extensions": map[string]any{
			"file_storage": map[string]any{"directory": queues}, "file_storage/journal": map[string]any{"directory": journal},
			"file_storage/unused": map[string]any{"directory": unused}, "file_storage/default": nil, "health_check": nil,
		},
		"service": map[string]any{"extensions": []any{"health_check", "file_storage", "file_storage/journal", "file_storage/default"}},
	})
	require.NoError(t, watcher.NotifyConfigSnapshot(t.Context(), extensioncapabilities.NewConfigSnapshot(config, nil)))
	left := func(dir string) (names []string) {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return names
	}
	assert.Equal(t, []string{"exporter_kafka__traces~damaged", "exporter_otlp_grpc__traces~damaged"}, left(queues))
	assert.Equal(t, []string{"extension_thread_engine__journal~damaged"}, left(journal))
	assert.Equal(t, []string{"exporter_otlp_grpc__traces"}, left(unused))
	metadatatest.AssertEqualExtensionThreadEngineStorageDamaged(t, telemetry, []metricdata.DataPoint[int64]{{Value: 3}}, metricdatatest.IgnoreTimestamp())
	require.NoError(t, e.Shutdown(t.Context()))
	require.NoError(t, telemetry.Shutdown(t.Context()))
}
