// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/kept"
	"github.com/weft-otel/weft/e2e/runtimes"
)

// Set by TestMain, read by all tests.
var (
	root    string // of the repository
	jdks    []jdk  // one for each version, the oldest first
	classes string // folder of the compiled programs
)

type jdk = runtimes.JDK

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("e2e: NOTHING WAS TESTED: -short skips all end-to-end tests")
		os.Exit(0)
	}
	code, err := prepareAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func prepareAndRun(m *testing.M) (int, error) {
	here, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	root = filepath.Dir(here)
	for _, name := range []string{"weft-collector", "libweft.so", "weft"} {
		if _, err := os.Stat(built(name)); err != nil {
			return 0, fmt.Errorf("build/%s is missing: run make build", name)
		}
	}
	if jdks = runtimes.JDKs(); len(jdks) == 0 {
		return 0, errors.New("no JDK found: install one or set JAVA_HOME")
	}
	if flag.Lookup("test.list").Value.String() != "" {
		return m.Run(), nil
	}
	for _, j := range jdks {
		fmt.Printf("e2e: %v is %s\n", j, j.Home)
	}
	if classes = os.Getenv(kept.Classes); classes == "" {
		if classes, err = os.MkdirTemp("", "weft-e2e-"); err != nil {
			return 0, err
		}
		defer func() { _ = os.RemoveAll(classes) }()
	}
	if compiled, _ := filepath.Glob(filepath.Join(classes, "*.class")); len(compiled) == 0 {
		if err := runtimes.Compile(root, jdks[0].Home, classes); err != nil {
			return 0, err
		}
	}
	return m.Run(), nil
}

func built(name string) string { return filepath.Join(root, "build", name) }

// TestRequiredJDKsAreInstalled fails if a JDK is missing on which the other tests should have run.
func TestRequiredJDKsAreInstalled(t *testing.T) {
	if jdks[0].Major > 17 || !slices.ContainsFunc(jdks, func(j jdk) bool { return j.Major == 17 }) {
		t.Errorf("no JDK 17 among %v: install one next to the others, or set JAVA_HOME to it", jdks)
	}
	if jdks[len(jdks)-1].Major <= 17 {
		t.Errorf("no JDK newer than 17 among %v: install one next to the others", jdks)
	}
}

// virtualJDKs returns what has virtual threads: the newest JDK, and one of 21 to 23.
func virtualJDKs(t *testing.T) []jdk {
	t.Helper()
	found, err := runtimes.Virtual(root, jdks)
	require.NoError(t, err)
	return found
}

// newestWithBlocking returns the newest JDK if its virtual threads give up their carriers when they are blocked.
func newestWithBlocking(t *testing.T) jdk {
	t.Helper()
	j := jdks[len(jdks)-1]
	if j.Major < 24 {
		t.Skip("NOT TESTED: install a JDK 24 or newer")
	}
	return j
}

// onEachJDK runs a test on each JDK that was found.
func onEachJDK(t *testing.T, test func(t *testing.T, j jdk)) {
	t.Helper()
	for _, j := range jdks {
		t.Run(j.String(), func(t *testing.T) { test(t, j) })
	}
}
