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
		"frames": map[string]any{"applications": []string{""}},
	}).Unmarshal(cfg))
	err := confmap.Validate(cfg)
	require.ErrorContains(t, err, "max_sessions: 0 is out of range, use 1 or more")
	require.ErrorContains(t, err, "critical_path: thread: error parsing regexp: missing closing ): `(`; use a regular expression such as ^http-")
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
