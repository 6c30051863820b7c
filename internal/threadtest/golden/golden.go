// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package golden answers: is a result still the text on file? With -update, tests that use it rewrite the files.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files") //nolint:gochecknoglobals // a flag

// Updating reports whether tests rewrite their files instead of comparing them.
func Updating() bool { return *update }

// Each runs a test for each file that matches the pattern (filepath.Glob); there must be one. The subtests have the names of the files
// without extension.
func Each(t *testing.T, pattern string, test func(t *testing.T, file string)) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no file matches %s: %v", pattern, err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, filepath.Ext(name)), func(t *testing.T) { test(t, file) })
	}
}

// Read returns the sections of a file; see Sections.
func Read(tb testing.TB, file string) (names []string, bodies map[string]string) {
	tb.Helper()
	return Sections(read(tb, file))
}

// Compare reports the difference between a file and what the test got, or rewrites the file.
func Compare(tb testing.TB, file, got string) {
	tb.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			tb.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(read(tb, file), got); diff != "" {
		tb.Errorf("%s: want - got +:\n%s\nTo accept the new result, run this test with -update.", file, diff)
	}
}

func read(tb testing.TB, file string) string {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}
