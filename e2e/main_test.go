// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weft-otel/weft/e2e/kept"
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
	if jdks = findJDKs(); len(jdks) == 0 {
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
		if err := compile(jdks[0]); err != nil {
			return 0, err
		}
	}
	return m.Run(), nil
}

func built(name string) string { return filepath.Join(root, "build", name) }

// findJDKs looks at JAVA_HOME and PATH, and next to the JDKs found there.
func findJDKs() []jdk {
	homes := []string{os.Getenv("JAVA_HOME")}
	if javac, err := exec.LookPath("javac"); err == nil {
		if target, err := filepath.EvalSymlinks(javac); err == nil {
			homes = append(homes, filepath.Dir(filepath.Dir(target)))
		}
	}
	for _, home := range slices.Clone(homes) {
		if home != "" {
			siblings, _ := filepath.Glob(filepath.Join(filepath.Dir(home), "*"))
			homes = append(homes, siblings...)
		}
	}
	var found []jdk
	for _, home := range homes {
		major := majorVersion(home)
		known := slices.ContainsFunc(found, func(j jdk) bool { return j.major == major })
		if _, err := os.Stat(filepath.Join(home, "bin", "javac")); err == nil && major >= 11 && !known {
			found = append(found, jdk{home, major})
		}
	}
	slices.SortFunc(found, func(a, b jdk) int { return cmp.Compare(a.major, b.major) })
	return found
}

// majorVersion reads the release file of a JDK; 0 if there is none.
func majorVersion(home string) int {
	f, err := os.Open(filepath.Join(home, "release"))
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "JAVA_VERSION="); ok {
			major, _, _ := strings.Cut(strings.Trim(text, `"`), ".")
			n, _ := strconv.Atoi(major)
			return n
		}
	}
	return 0
}

// blockedJava waits until a thread is blocked, for the programs here and for those of the agent's own tests.
const blockedJava = "agent/test/java/Blocked.java"

func compile(j jdk) error {
	sources, err := filepath.Glob(filepath.Join(root, "e2e/jvm/*.java"))
	if err != nil {
		return err
	}
	exchange, err := filepath.Glob(filepath.Join(root, "e2e/jvm/com/acme/orders/*.java"))
	if err != nil {
		return err
	}
	sources = append(append(sources, exchange...), filepath.Join(root, blockedJava))
	args := append([]string{"--release", "11", "-Xlint:all", "-Werror", "-d", classes}, sources...)
	out, err := exec.Command(filepath.Join(j.home, "bin", "javac"), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("javac: %w\n%s", err, out)
	}
	return nil
}

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
