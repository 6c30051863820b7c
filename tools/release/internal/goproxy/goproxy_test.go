// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package goproxy

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const goMod = "module example.com/m\n\ngo 1.25\n"

// repository returns a git repository with the given files; the last pair may be ignored by .gitignore.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "init", "--quiet").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return root
}

func TestPacksWhatACommitWouldContain(t *testing.T) {
	root := repository(t, map[string]string{
		"go.mod": goMod, "a.go": "package m\n", "web/dist/app.js": "x", ".gitignore": "/build/\n", "build/collector": "y",
		"tools/go.mod": "module example.com/m/tools\n", "tools/tool.go": "package main\n",
	})
	proxy := t.TempDir()
	require.NoError(t, Write(root, proxy, "v0.1.0"))
	packed, err := zip.OpenReader(filepath.Join(proxy, "example.com/m/@v/v0.1.0.zip"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, packed.Close()) }()
	var names []string
	for _, f := range packed.File {
		names = append(names, f.Name)
	}
	const prefix = "example.com/m@v0.1.0/"
	assert.ElementsMatch(t, []string{prefix + "go.mod", prefix + "a.go", prefix + "web/dist/app.js", prefix + ".gitignore"}, names)
}

func TestRefusesWhatNoProxyCanServe(t *testing.T) {
	replaced := repository(t, map[string]string{"go.mod": goMod + "\nreplace example.com/other => ../other\n"})
	require.ErrorContains(t, Write(replaced, t.TempDir(), "v0.1.0"), "go.mod:5: replace applies to this repository only")
	plain := repository(t, map[string]string{"go.mod": goMod})
	require.Error(t, Write(plain, t.TempDir(), "0.1.0"), "versions of modules start with v")
	require.Error(t, Write(plain, t.TempDir(), "v2.0.0"), "the path of version 2 ends in /v2")
	require.ErrorContains(t, Write(t.TempDir(), t.TempDir(), "v0.1.0"), "go.mod")
}
