// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// People keep a recording next to its copy or its archive.
func TestCopiesCountOnce(t *testing.T) {
	for _, name := range []string{"cause-socket-jdk17.weft.gz", "socket-jfr-jdk17.jfr.gz"} {
		content, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "corpus", "testdata", "runs", name))
		require.NoError(t, err)
		folder := t.TempDir()
		once, archive := filepath.Join(folder, name), filepath.Join(folder, "sent.zip")
		require.NoError(t, os.WriteFile(once, content, 0o600))
		file, err := os.Create(archive)
		require.NoError(t, err)
		packer := zip.NewWriter(file)
		entry, err := packer.Create(name)
		require.NoError(t, err)
		_, err = entry.Write(content)
		require.NoError(t, err)
		require.NoError(t, packer.Close())
		require.NoError(t, file.Close())

		_, want, _ := run(t, "", "summary", once)
		code, got, stderr := run(t, "", "summary", once, archive)
		assert.Equal(t, exitOK, code)
		assert.Equal(t, want, got)
		assert.Contains(t, stderr, "repeats what other files have: that counts once")
		assert.Equal(t, 1, strings.Count(stderr, "repeats"))
	}
}

// A dump that says when it was made counts once, too.
func TestCopiesOfDumpsCountOnce(t *testing.T) {
	hangs := threads{reads, asks, asks2}
	folder := t.TempDir()
	for name, second := range map[string]int{"1.txt": 0, "2.txt": 10, "copy of 2.txt": 10} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(hangs.at(second)), 0o600))
	}
	_, stdout, _ := run(t, "", "summary", folder)
	assert.Contains(t, stdout, "In 2 of 2 dumps over 10 s")
}
