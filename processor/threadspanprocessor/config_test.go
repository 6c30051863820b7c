// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadspanprocessor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/otel/attribute"
)

func attrKey(s string) attribute.Key { return attribute.Key(s) }

func TestConfigErrorsNameTheKeyAndTheRemedy(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, confmap.NewFromStringMap(map[string]any{
		"max_sessions": 0, "critical_path": map[string]any{"thread": "("},
		"frames":    map[string]any{"applications": []string{""}},
		"incidents": map[string]any{"min_time": "-1s", "max_per_window": 0},
	}).Unmarshal(cfg))
	err := confmap.Validate(cfg)
	require.ErrorContains(t, err, "max_sessions: 0 is out of range, use 1 or more")
	require.ErrorContains(t, err, "critical_path: thread: error parsing regexp: missing closing ): `(`; use a regular expression such as ^http-")
	require.ErrorContains(t, err, "incidents: min_time: -1s is out of range, use a duration from 0s to 1h0m0s")
	require.ErrorContains(t, err, "max_per_window: 0 is out of range, use 1 or more; for none, use enabled: false")
	assert.ErrorContains(t, err, "frames: applications: a prefix is empty; ")
}

func TestUnknownKeyIsRefused(t *testing.T) {
	err := confmap.NewFromStringMap(map[string]any{"windoww": "1s"}).Unmarshal(createDefaultConfig())
	assert.ErrorContains(t, err, "windoww")
}

func TestDefaultsAreValid(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, confmap.Validate(cfg))
	assert.Equal(t, 10*time.Second, cfg.Sessions.Window)
}
