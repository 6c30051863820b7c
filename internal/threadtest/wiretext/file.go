// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wiretext

import (
	"os"
	"path/filepath"
	"testing"
)

// File writes a recording in the text form of the protocol to a file, which ends with the test, and returns its path.
func File(t testing.TB, text string) string {
	t.Helper()
	data, err := AppendStream(nil, text)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "x.weft")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
