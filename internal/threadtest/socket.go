// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"os"
	"testing"
)

// SocketDir returns a folder for the test whose path leaves room for the name of a Unix socket: sun_path takes 108 bytes with its zero (unix(7)),
// and TMPDIR may have used them.
func SocketDir(tb testing.TB) string {
	tb.Helper()
	const room = 50
	parent := os.TempDir()
	if len(parent) > room {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "weft") //nolint:usetesting // TempDir holds the name of the test
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) }) // a process that is just ending may still write there
	return dir
}
