// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// agent returns a folder like /weft in the image.
func agent(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "weft")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "more"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "libweft.so"), []byte("new"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "more/weft-otel.jar"), []byte("jar"), 0o600))
	return dir
}

func text(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(data)
}

func TestCopiesTheContentsOfAFolder(t *testing.T) {
	source, dest := agent(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dest, "libweft.so"), []byte("old version"), 0o600))
	old, err := os.Open(filepath.Join(dest, "libweft.so")) // as a JVM that has mapped it
	require.NoError(t, err)
	defer func() { assert.NoError(t, old.Close()) }()

	require.NoError(t, run([]string{"-r", source + "/.", dest}))
	assert.Equal(t, "new", text(t, dest, "libweft.so"))
	assert.Equal(t, "jar", text(t, dest, "more/weft-otel.jar"))
	info, err := old.Stat()
	require.NoError(t, err)
	assert.EqualValues(t, len("old version"), info.Size(), "the old file was overwritten, not replaced")
	left, err := filepath.Glob(filepath.Join(dest, ".cp-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestCopiesFoldersAndFilesLikeCp(t *testing.T) {
	source, dest := agent(t), t.TempDir()
	require.NoError(t, run([]string{"-a", source, dest}))
	assert.Equal(t, "new", text(t, dest, "weft/libweft.so"))
	require.NoError(t, run([]string{"-r", source, filepath.Join(dest, "new-folder")}))
	assert.Equal(t, "new", text(t, dest, "new-folder/libweft.so"))
	require.NoError(t, run([]string{filepath.Join(source, "libweft.so"), filepath.Join(dest, "renamed.so")}))
	assert.Equal(t, "new", text(t, dest, "renamed.so"))
	require.NoError(t, run([]string{"--", filepath.Join(source, "libweft.so"), filepath.Join(source, "more/weft-otel.jar"), dest}))
	assert.Equal(t, "jar", text(t, dest, "weft-otel.jar"))
}

func TestRefusesWhatItCannotCopy(t *testing.T) {
	source, dest := agent(t), t.TempDir()
	require.ErrorContains(t, run([]string{source, dest}), "is a folder: add -r")
	require.ErrorContains(t, run([]string{"-x", source, dest}), `unknown option "-x"`)
	require.ErrorContains(t, run([]string{source}), usage)
	require.ErrorContains(t, run([]string{filepath.Join(source, "missing"), dest}), "no such file")
	require.ErrorContains(t, run([]string{"-r", source, source, filepath.Join(dest, "missing")}), "is not a folder")
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(source, "link")))
	require.ErrorContains(t, run([]string{"-r", source + "/.", dest}), "neither a file nor a folder")
}
