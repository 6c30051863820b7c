// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package document

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTableIsReplaced(t *testing.T) {
	file := filepath.Join(t.TempDir(), "performance.md")
	require.Error(t, Replace(file, "make bench", "new\n"))
	require.NoError(t, os.WriteFile(file, []byte("# Title\n<!-- make bench: generated -->\nold\n<!-- end -->\nrest\n"), 0o600))
	for range 2 {
		require.NoError(t, Replace(file, "make bench", "new\n"))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "# Title\n<!-- make bench: generated -->\nnew\n<!-- end -->\nrest\n", string(text))
	require.NoError(t, os.WriteFile(file, []byte("# Title\n"), 0o600))
	require.Error(t, Replace(file, "make bench", "new\n"))
}
