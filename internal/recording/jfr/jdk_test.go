// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package jfr

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// jdk is a Java installation: a JDK, or a downloaded runtime without tools.
type jdk struct {
	home    string
	major   int
	missing string // reason why the installation is missing
}

// findJDKs returns one installation of each version in the folder of the one in PATH, the oldest first.
var findJDKs = sync.OnceValue(func() (found []jdk) {
	javac, err := exec.LookPath("javac")
	if err != nil {
		return nil
	}
	if javac, err = filepath.EvalSymlinks(javac); err != nil {
		return nil
	}
	homes, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(javac))), "*"))
	seen := map[int]bool{}
	for _, home := range homes {
		major := majorOf(home)
		_, err := os.Stat(filepath.Join(home, "bin", "jfr"))
		if err == nil && major >= 17 && !seen[major] {
			seen[major] = true
			found = append(found, jdk{home: home, major: major})
		}
	}
	slices.SortFunc(found, func(a, b jdk) int { return cmp.Compare(a.major, b.major) })
	return found
})

// majorOf returns the version in the file "release" of an installation, or 0 if there is none.
func majorOf(home string) int {
	release, err := os.ReadFile(filepath.Join(home, "release"))
	if err != nil {
		return 0
	}
	_, version, _ := strings.Cut(string(release), `JAVA_VERSION="`)
	major, _ := strconv.Atoi(version[:max(strings.IndexAny(version, `."`), 0)])
	return major
}

// fetchRuntimes downloads the runtimes of versions that distributions lack, once for all tests and builds.
var fetchRuntimes = sync.OnceValue(func() (runtimes []jdk) {
	folder := filepath.Join("..", "..", "..", "build", "jre")
	for _, major := range []int{11, 21} {
		r := jdk{home: filepath.Join(folder, strconv.Itoa(major)), major: major}
		out, err := exec.Command(filepath.Join("..", "..", "..", "scripts", "jres.sh"), folder, strconv.Itoa(major)).CombinedOutput()
		if err != nil {
			r.missing = fmt.Sprintf("scripts/jres.sh: %v: %s", err, bytes.TrimSpace(out))
		} else if have := majorOf(r.home); have != major {
			r.missing = fmt.Sprintf("%s is of %d", r.home, have)
		}
		runtimes = append(runtimes, r)
	}
	return runtimes
})

// compiled is the folder with the compiled programs.
var compiled string

func TestMain(m *testing.M) {
	code, err := compileAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "jfr:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func compileAndRun(m *testing.M) (code int, err error) {
	jdks := findJDKs()
	if len(jdks) == 0 {
		return m.Run(), nil // onEachJDK reports it
	}
	if compiled, err = os.MkdirTemp("", "weft-jfr-"); err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(compiled) }()
	sources, _ := filepath.Glob("testdata/*.java")
	args := append([]string{"--release", "11", "-Xlint:-options", "-d", compiled}, sources...)
	if out, err := exec.Command(filepath.Join(jdks[0].home, "bin", "javac"), args...).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("javac: %w: %s", err, out)
	}
	return m.Run(), nil
}

// onEachJDK runs a test on each JDK and each runtime, and reports those that are missing.
func onEachJDK(t *testing.T, test func(t *testing.T, j jdk)) {
	t.Helper()
	if len(findJDKs()) == 0 {
		t.Skip("NOTHING WAS TESTED: no javac on the path; install a JDK")
	}
	for _, j := range append(fetchRuntimes(), findJDKs()...) {
		t.Run("jdk"+strconv.Itoa(j.major), func(t *testing.T) {
			t.Parallel()
			if j.missing != "" {
				t.Skipf("NOTHING WAS TESTED ON %d: %s", j.major, j.missing)
			}
			test(t, j)
		})
	}
}

// java returns a command that runs a program of testdata.
func (j jdk) java(args ...string) *exec.Cmd {
	return exec.Command(filepath.Join(j.home, "bin", "java"), append([]string{"-cp", compiled}, args...)...)
}

// truth is the output of the recorded program: its threads and the counts of their actions.
type truth struct {
	Main, Waiter, Parker, Sleeper, Patient int64
	Rounds, MainSleeps                     int
}

// makeRecording runs the program Recorded, and returns its recording and its output.
func makeRecording(t testing.TB, j jdk, arguments ...string) (file string, known truth) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "recorded.jfr")
	command := j.java(append([]string{"Recorded", file}, arguments...)...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	require.NoError(t, err, stderr.String())
	require.NoError(t, json.Unmarshal(out, &known), string(out))
	return file, known
}
