// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSameFilesMakeTheSameArchive(t *testing.T) {
	dir := t.TempDir()
	program, text := filepath.Join(dir, "program"), filepath.Join(dir, "text")
	require.NoError(t, os.WriteFile(program, []byte("#!"), 0o700))
	require.NoError(t, os.WriteFile(text, []byte("text"), 0o600))
	modified := time.Unix(1_700_000_000, 0).UTC()
	for _, kind := range []string{".tar.gz", ".zip"} {
		first, second := filepath.Join(t.TempDir(), "weft"+kind), filepath.Join(t.TempDir(), "weft"+kind)
		require.NoError(t, Write(first, []File{{program, "weft", 0o755}, {text, "config/a.yaml", 0o644}}, modified))
		require.NoError(t, os.Chmod(text, 0o664))
		require.NoError(t, os.Chtimes(text, time.Time{}, time.Unix(1, 0)))
		require.NoError(t, Write(second, []File{{text, "config/a.yaml", 0o644}, {program, "weft", 0o755}}, modified))
		one, err := os.ReadFile(first)
		require.NoError(t, err)
		other, err := os.ReadFile(second)
		require.NoError(t, err)
		assert.Equal(t, one, other, kind)
	}
	require.ErrorContains(t, Write(filepath.Join(dir, "weft.rar"), nil, modified), "want .tar.gz or .zip")
}

// TestTarReadsIt unpacks with the program that users have.
func TestTarReadsIt(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	require.NoError(t, os.WriteFile(source, []byte("text"), 0o600))
	target := filepath.Join(dir, "weft_1.tar.gz")
	require.NoError(t, Write(target, []File{{source, "a/b/weft", 0o755}}, time.Unix(0, 0)))
	out, err := exec.CommandContext(t.Context(), "tar", "-tvzf", target).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, 4, strings.Count(string(out), "\n"), "%s", out)
	assert.Regexp(t, `-rwxr-xr-x (root/root|0/0) +4 .* weft_1/a/b/weft`, string(out))
}
