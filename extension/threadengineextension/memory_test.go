// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadengineextension

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/weft-otel/weft/extension/threadengineextension/internal/metadata"
)

// The runtime's soft limit is that of the option while the extension runs.
func TestMemoryLimit(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	cfg := createDefaultConfig().(*Config)
	cfg.MemoryLimitMiB = 800
	e, err := NewFactory().Create(t.Context(), extensiontest.NewNopSettings(metadata.Type), cfg)
	require.NoError(t, err)
	assert.Equal(t, 360, e.(*threadEngine).analyzer.Options.SessionsLimitMiB)
	require.NoError(t, e.Start(t.Context(), nil))
	assert.Equal(t, int64(600<<20), debug.SetMemoryLimit(-1))
	require.NoError(t, e.Shutdown(t.Context()))
	assert.Equal(t, before, debug.SetMemoryLimit(-1))
}

// A user's GOMEMLIMIT is left alone.
func TestMemoryLimitLeavesGOMEMLIMITAlone(t *testing.T) {
	assert.Nil(t, newMemoryLimit(0))
	t.Setenv("GOMEMLIMIT", "1GiB")
	m := newMemoryLimit(800)
	assert.Nil(t, m)
	m.start()
	m.end()
}

func TestSoftLimitLeavesRoomForTheProgram(t *testing.T) {
	for mib, want := range map[int64]int64{64: 32, 128: 64, 192: 96, 256: 128, 400: 272, 512: 384, 1500: 1125} {
		assert.Equal(t, want, softLimit(mib), "%d MiB", mib)
	}
}

func TestMemoryLimitOutOfRange(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	for _, mib := range []int{0, 64, 1 << 20} {
		cfg.MemoryLimitMiB = mib
		require.NoError(t, cfg.Validate())
	}
	for _, mib := range []int{-1, 63, 1<<20 + 1, math.MaxInt} {
		cfg.MemoryLimitMiB = mib
		require.ErrorContains(t, cfg.Validate(), "is out of range, use 64 to 1048576, or 0 to leave the limit of the runtime alone")
	}
}
