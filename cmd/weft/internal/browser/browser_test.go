// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/threadtest/await"
)

// The token of the page is not on the browser's command line, which other users see.
func TestOpenRunsBROWSER(t *testing.T) {
	dir := t.TempDir()
	script, opened := filepath.Join(dir, "browser"), filepath.Join(dir, "opened")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nprintf %s \"$1\" >"+opened+".new && mv "+opened+".new "+opened+"\n"), 0o700))
	t.Setenv("BROWSER", script)
	done, err := Open(t.Context(), "http://127.0.0.1:1/?a=b&token=SECRET")
	require.NoError(t, err)
	await.Until(t, "the browser is started", func() bool { _, err := os.Stat(opened); return err == nil })
	file, err := os.ReadFile(opened)
	require.NoError(t, err)
	content, err := os.ReadFile(string(file))
	require.NoError(t, err)
	const url = "http://127.0.0.1:1/?a=b&amp;token=SECRET"
	assert.Equal(t, `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=`+url+`"><a href="`+url+`">Open the page</a>`+"\n", string(content))
	for path, want := range map[string]os.FileMode{string(file): 0o600, filepath.Dir(string(file)): 0o700} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode().Perm(), path)
	}
	done()
	assert.NoDirExists(t, filepath.Dir(string(file)))
	t.Setenv("BROWSER", filepath.Join(dir, "none"))
	done, err = Open(t.Context(), "http://localhost/")
	require.ErrorContains(t, err, "no browser: ")
	done()
}

func TestCommand(t *testing.T) {
	for _, test := range []struct {
		system string
		env    map[string]string
		want   string
	}{
		{"darwin", nil, "open"},
		{"windows", nil, "rundll32"},
		{"linux", map[string]string{"DISPLAY": ":0"}, "xdg-open"},
		{"linux", map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, "xdg-open"},
		{"linux", map[string]string{"DISPLAY": ":0", "BROWSER": "firefox"}, "firefox"},
	} {
		name, _, err := command(test.system, func(key string) string { return test.env[key] })
		require.NoError(t, err)
		assert.Equal(t, test.want, name)
	}
	_, _, err := command("linux", func(string) string { return "" })
	require.ErrorContains(t, err, "neither DISPLAY nor WAYLAND_DISPLAY is set")
}
