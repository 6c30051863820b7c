// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A directory has one owner, whom the second one names.
func TestDirectoryHasOneOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "page")
	unlock, err := Lock(dir)
	require.NoError(t, err)
	_, err = Lock(dir)
	require.EqualError(t, err, fmt.Sprintf("%s is in use by process %d: give each collector a directory of its own", dir, os.Getpid()))
	require.NoError(t, os.WriteFile(filepath.Join(dir, lockName), nil, 0o600))
	_, err = Lock(dir)
	require.EqualError(t, err, dir+" is in use by another process: give each collector a directory of its own")
	require.NoError(t, unlock())
	unlock, err = Lock(dir)
	require.NoError(t, err)
	require.NoError(t, unlock())
	info, err := os.Stat(filepath.Join(dir, lockName))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
