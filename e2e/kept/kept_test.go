// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package kept_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/kept"
	"github.com/weft-otel/weft/internal/threadtest"
)

func TestCopyKeepsWhatFits(t *testing.T) {
	from, to := threadtest.SocketDir(t), t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(from, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("a/spans.json", "{}")
	write("b/large.weft", "0123456789")
	write("c/log", "four")
	listener, err := net.Listen("unix", filepath.Join(from, "socket"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, listener.Close()) }()

	for range 2 { // the second time replaces what the first has copied
		omitted, err := kept.Copy(to, from, 8)
		require.NoError(t, err)
		assert.Equal(t, 1, omitted)
	}
	for name, want := range map[string]string{"a/spans.json": "{}", "c/log": "four"} {
		text, err := os.ReadFile(filepath.Join(to, name))
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
	assert.NoFileExists(t, filepath.Join(to, "b/large.weft"))
	assert.NoFileExists(t, filepath.Join(to, "socket"))
}
