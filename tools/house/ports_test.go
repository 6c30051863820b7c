// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package house_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPortsOfOthers checks that our configurations run next to Jaeger 2 or another collector on one machine: these take 13133 for the health
// check and 8888 for internal metrics, and a collector ends if a port is in use. In a pod of its own, a collector may have them.
func TestPortsOfOthers(t *testing.T) {
	files, err := filepath.Glob("config/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range append(files, "tools/release/packaging/collector.yaml") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, port := range []string{"13133", "8888"} {
			assert.NotContains(t, string(text), port, file)
		}
	}
}
