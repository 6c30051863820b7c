// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package replay_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
)

// asOther calls fn with the rights of a user who owns nothing, if this one may read everything.
func asOther(t *testing.T, fn func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		require.NoError(t, unix.Setfsuid(65534))
		defer func() { require.NoError(t, unix.Setfsuid(0)) }()
	}
	fn()
}

// What can be read is, whatever else is in the folder.
func TestUnreadableFolder(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	secret := filepath.Join(dir, "a")
	require.NoError(t, os.Mkdir(secret, 0))
	asOther(t, func() {
		g := replay.Gather(t.Context(), []string{dir}, &replay.Options{})
		require.EqualError(t, g.Err, secret+": permission denied")
	})
	last := filepath.Join(dir, "z.orca")
	require.NoError(t, os.WriteFile(last, []byte("1.0,ThreadStarted,00000001,main\n"), 0o600))
	require.NoError(t, os.Chmod(last, 0o644))
	asOther(t, func() {
		g := replay.Gather(t.Context(), []string{dir}, &replay.Options{})
		defer g.Close()
		require.EqualError(t, g.Err, secret+": permission denied")
		require.Len(t, g.Sources, 1)
		assert.Equal(t, last, g.Sources[0].Name)
	})
}
