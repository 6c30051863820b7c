// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/threadview/server"
)

// TestEndpointsAreDocumented checks that docs/page-api.md lists the answers about a session, and no others.
func TestEndpointsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/page-api.md")
	require.NoError(t, err)
	var listed []string
	for _, match := range regexp.MustCompile("(?m)^\\| `…/(\\w+)`").FindAllStringSubmatch(string(text), -1) {
		if !slices.Contains([]string{"export", "download", "control"}, match[1]) { // files, and changes of options
			listed = append(listed, match[1])
		}
	}
	assert.ElementsMatch(t, server.Endpoints(), listed)
}
