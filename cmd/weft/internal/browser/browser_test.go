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

func TestOpenRunsBROWSER(t *testing.T) {
	dir := t.TempDir()
	script, opened := filepath.Join(dir, "browser"), filepath.Join(dir, "opened")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\nprintf %s \"$1\" >"+opened+".new && mv "+opened+".new "+opened+"\n"), 0o700))
	t.Setenv("BROWSER", script)
	require.NoError(t, Open(t.Context(), "http://127.0.0.1:1/?a=b&c"))
	await.Until(t, "the browser is started", func() bool { _, err := os.Stat(opened); return err == nil })
	url, err := os.ReadFile(opened)
	require.NoError(t, err)
	assert.Equal(t, "http://127.0.0.1:1/?a=b&c", string(url))
	t.Setenv("BROWSER", filepath.Join(dir, "none"))
	require.ErrorContains(t, Open(t.Context(), "http://localhost/"), "no browser: ")
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
