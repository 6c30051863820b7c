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
	"strconv"
	"testing"

	"github.com/weft-otel/weft/e2e/kept"
	"github.com/weft-otel/weft/e2e/runtimes"
)

// Set by TestMain, read by all tests.
var (
	root    string // of the repository
	jdks    []jdk  // one for each version, the oldest first
	classes string // folder of the compiled programs
)

// jdk is a Java installation.
type jdk struct {
	home  string
	major int
}

func (j jdk) String() string { return "jdk" + strconv.Itoa(j.major) }

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
	if jdks = found(); len(jdks) == 0 {
		return 0, errors.New("no JDK found: install one or set JAVA_HOME")
	}
	if flag.Lookup("test.list").Value.String() != "" {
		return m.Run(), nil
	}
	for _, j := range jdks {
		fmt.Printf("e2e: %v is %s\n", j, j.home)
	}
	if classes = os.Getenv(kept.Classes); classes == "" {
		if classes, err = os.MkdirTemp("", "weft-e2e-"); err != nil {
			return 0, err
		}
		defer func() { _ = os.RemoveAll(classes) }()
	}
	if compiled, _ := filepath.Glob(filepath.Join(classes, "*.class")); len(compiled) == 0 {
		if err := runtimes.Compile(root, jdks[0].home, classes); err != nil {
			return 0, err
		}
	}
	return m.Run(), nil
}

// found lists the installed JDKs.
func found() (all []jdk) {
	for _, j := range runtimes.JDKs() {
		all = append(all, jdk{j.Home, j.Major})
	}
	return all
}

func built(name string) string { return filepath.Join(root, "build", name) }

// TestRequiredJDKsAreInstalled fails if a JDK is missing on which the other tests should have run.
func TestRequiredJDKsAreInstalled(t *testing.T) {
	if jdks[0].major > 17 || !slices.ContainsFunc(jdks, func(j jdk) bool { return j.major == 17 }) {
		t.Errorf("no JDK 17 among %v: install one next to the others, or set JAVA_HOME to it", jdks)
	}
	if jdks[len(jdks)-1].major <= 17 {
		t.Errorf("no JDK newer than 17 among %v: install one next to the others", jdks)
	}
}

// onEachJDK runs a test on each JDK that was found.
func onEachJDK(t *testing.T, test func(t *testing.T, j jdk)) {
	t.Helper()
	for _, j := range jdks {
		t.Run(j.String(), func(t *testing.T) { test(t, j) })
	}
}
