// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"os"
	"testing"
)

// SocketDir returns a temporary folder for Unix sockets. Its path is short even if TMPDIR is long, because sun_path is limited to 108 bytes
// including the terminating zero (unix(7)).
func SocketDir(tb testing.TB) string {
	tb.Helper()
	const room = 50
	parent := os.TempDir()
	if len(parent) > room {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "weft") //nolint:usetesting // the path of TempDir contains the name of the test
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) }) // a process that is exiting may still write there
	return dir
}
