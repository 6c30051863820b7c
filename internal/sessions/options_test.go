// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
)

func TestOptionsErrorsNameTheKeyAndTheRemedy(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   map[string]any
		want string
	}{
		{"negative window", map[string]any{"window": "-1s"}, "window: -1s is out of range, use a duration from 10ms to 1h0m0s such as 10s"},
		{"negative spans", map[string]any{"max_spans_per_window": -1}, "max_spans_per_window: -1 is out of range, use 0 or more (0 keeps all)"},
		{"no sessions", map[string]any{"max_sessions": 0}, "max_sessions: 0 is out of range, use 1 or more"},
		{"no intervals", map[string]any{"max_intervals_per_window": 5}, "max_intervals_per_window: 5 is out of range, use 1000 or more"},
		{"timeout", map[string]any{"session_timeout": "0s"}, "session_timeout: 0s is out of range, use a duration from 1s to 24h0m0s such as 10s"},
		{"reorder", map[string]any{"reorder_timeout": "2h"}, "reorder_timeout: 2h0m0s is out of range, use a duration from 10ms to 1h0m0s such as 10s"},
		{
			"two at once",
			map[string]any{"max_sessions": -5, "window": "0s"},
			"window: 0s is out of range, use a duration from 10ms to 1h0m0s such as 10s\nmax_sessions: -5 is out of range, use 1 or more",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg := DefaultOptions()
			require.NoError(t, confmap.NewFromStringMap(tt.in).Unmarshal(&cfg))
			assert.EqualError(t, cfg.Validate(), tt.want)
		})
	}
}

func TestCriticalPathErrorsNameTheKeyAndTheRemedy(t *testing.T) {
	cfg := DefaultOptions()
	require.NoError(t, confmap.NewFromStringMap(map[string]any{"critical_path": map[string]any{"thread": "("}}).Unmarshal(&cfg))
	require.EqualError(t, confmap.Validate(&cfg),
		"critical_path: thread: error parsing regexp: missing closing ): `(`; use a regular expression such as ^http-")

	err := confmap.NewFromStringMap(map[string]any{"critical_path": map[string]any{"mode": "longest"}}).Unmarshal(&cfg)
	require.ErrorContains(t, err, "critical_path.mode")
	require.ErrorContains(t, err, `invalid mode "longest", use bounded, unbounded or off`)

	cfg = DefaultOptions()
	path := map[string]any{"mode": "off", "what_if": false}
	require.NoError(t, confmap.NewFromStringMap(map[string]any{"critical_path": path}).Unmarshal(&cfg))
	require.EqualError(t, confmap.Validate(&cfg), "critical_path: what_if: has no effect in mode off; remove it, or use mode bounded")
}

func TestEmptyPrefixesAreRefused(t *testing.T) {
	for _, key := range []string{"libraries", "applications"} {
		cfg := DefaultOptions()
		require.NoError(t, confmap.NewFromStringMap(map[string]any{"frames": map[string]any{key: []string{"com.acme.", ""}}}).Unmarshal(&cfg))
		assert.EqualError(t, confmap.Validate(&cfg), "frames: "+key+": a prefix is empty; remove it, or use a package such as \"com.acme.\"")
	}
}

func TestDefaultsAreValid(t *testing.T) {
	cfg := DefaultOptions()
	require.NoError(t, cfg.Validate())
	assert.Equal(t, 10*time.Second, cfg.Window)
}
