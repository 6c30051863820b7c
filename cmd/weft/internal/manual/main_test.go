// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/internal/commands"
)

func TestEachCommandHasAPage(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	dir := t.TempDir()
	require.NoError(t, write(dir))
	for _, cmd := range commands.Root(&commands.Program{}).Commands() {
		page, err := os.ReadFile(filepath.Join(dir, "weft-"+cmd.Name()+".1"))
		require.NoError(t, err)
		assert.Contains(t, string(page), `"WEFT-`)
		assert.Contains(t, string(page), "Nov 2023")
	}
	t.Setenv("SOURCE_DATE_EPOCH", "yesterday")
	require.ErrorContains(t, write(dir), "SOURCE_DATE_EPOCH")
}
