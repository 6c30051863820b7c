// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadengineextension

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/extension/threadengineextension/internal/metadatatest"
	"github.com/weft-otel/weft/internal/budget"
)

// The parts of the process get a part of the memory while the extension runs. The metrics say what each holds, and a warning says once which
// limits cannot be reached.
func TestPartsShareTheMemory(t *testing.T) {
	tel := componenttest.NewTelemetry()
	core, logs := observer.New(zap.WarnLevel)
	set := extension.Settings{ID: component.MustNewID("thread_engine"), TelemetrySettings: tel.NewTelemetrySettings()}
	set.Logger = zap.New(core)
	cfg := createDefaultConfig().(*Config)
	cfg.MemoryLimitMiB = 800
	e, err := NewFactory().Create(t.Context(), set, cfg)
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context(), nil))
	limit := budget.Process.Limit()
	assert.EqualValues(t, 450, limit>>20)

	store := budget.Process.New(budget.Store, 256<<20)
	store.Force(1 << 20)
	ready := e.(*threadEngine).Ready
	require.NoError(t, ready())
	assert.Zero(t, logs.Len())
	definitions := budget.Process.New(budget.Definitions, 512<<20).Choose(true)
	require.NoError(t, ready())
	require.Equal(t, 1, logs.Len())
	fields := logs.All()[0].ContextMap()
	assert.EqualValues(t, 512, fields["jvm_thread::protocols::stream::max_definitions_mib in MiB"])
	assert.EqualValues(t, 450, fields["limit_mib"])
	assert.Greater(t, fields["memory_limit_mib that is enough"], int64(512))

	part := func(name string, held int64) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Attributes: attribute.NewSet(attribute.String("part", name)), Value: held}
	}
	metadatatest.AssertEqualExtensionThreadEngineMemoryHeld(t, tel, []metricdata.DataPoint[int64]{
		part("definitions", 0), part("backlogs", 0), part("sessions", 0), part("store", 1<<20), part("queries", 0),
	}, metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualExtensionThreadEngineMemoryLimit(t, tel, []metricdata.DataPoint[int64]{{Value: limit}}, metricdatatest.IgnoreTimestamp())

	store.Close()
	definitions.Close()
	require.NoError(t, e.Shutdown(t.Context()))
	assert.Zero(t, budget.Process.Limit())
	require.NoError(t, tel.Shutdown(t.Context()))
}
