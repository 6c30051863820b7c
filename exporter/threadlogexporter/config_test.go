// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadlogexporter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
)

func TestConfigErrorsNameTheKeyAndTheRemedy(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, confmap.NewFromStringMap(map[string]any{
		"format": "orka", "time_unit": "2s", "max_sessions": 0, "session_timeout": "1ms", "reorder_timeout": "0s",
		"rotation": map[string]any{"max_megabytes": 0, "max_backups": -1, "max_days": -1, "compression": "rar"},
	}).Unmarshal(cfg))
	err := confmap.Validate(cfg)
	for _, want := range []string{
		`format: invalid value "orka", use one of native, tptp, orca, triples`, "directory: must not be empty", "max_sessions: 0 is out of range, use 1 to 10000",
		"time_unit: format orka has a fixed unit; remove time_unit", "session_timeout: 1ms is out of range", "reorder_timeout: 0s is out of range",
		"rotation: max_megabytes: 0 is out of range", "max_backups: -1 is out", "max_days: -1 is out", `compression: invalid value "rar", use one of none, gzip, zstd`,
	} {
		require.ErrorContains(t, err, want)
	}
	cfg.Format = "tptp"
	assert.ErrorContains(t, confmap.Validate(cfg), "time_unit: invalid unit 2s, use 1s, 1ms, 1us or 1ns")
}

func TestUnknownKeyIsRefused(t *testing.T) {
	assert.ErrorContains(t, confmap.NewFromStringMap(map[string]any{"formatt": "orca"}).Unmarshal(createDefaultConfig()), "formatt")
}

func TestDefaultsRequireOnlyADirectory(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.Directory = "recordings"
	assert.NoError(t, confmap.Validate(cfg))
}
