// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// jdk is a Java installation.
type jdk struct {
	home  string
	major int
}

// findJDKs finds one installation of each version beside the one on the path.
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
		release, err := os.ReadFile(filepath.Join(home, "release"))
		if err != nil {
			continue
		}
		_, version, _ := strings.Cut(string(release), `JAVA_VERSION="`)
		end := strings.IndexAny(version, `."`)
		major, err := strconv.Atoi(version[:max(end, 0)])
		if err == nil && major >= 11 && !seen[major] {
			seen[major] = true
			found = append(found, jdk{home, major})
		}
	}
	return found
})

// onEachJDK runs a test on each JDK, or says loudly that nothing was tested.
func onEachJDK(t *testing.T, test func(t *testing.T, j jdk)) {
	t.Helper()
	if len(findJDKs()) == 0 {
		t.Skip("NOTHING WAS TESTED: no javac on the path; install a JDK")
	}
	for _, j := range findJDKs() {
		t.Run("jdk"+strconv.Itoa(j.major), func(t *testing.T) { test(t, j) })
	}
}

// truth is what the recorded program says that it did.
type truth struct {
	Main, Waiter, Parker, Sleeper, Patient int64
	Rounds, MainSleeps                     int
}

// makeRecording runs the program testdata/Recorded.java and returns its recording.
func makeRecording(t testing.TB, j jdk, arguments ...string) (file string, told truth) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "recorded.jfr")
	command := exec.Command(filepath.Join(j.home, "bin", "java"), append([]string{"testdata/Recorded.java", file}, arguments...)...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	require.NoError(t, err, stderr.String())
	require.NoError(t, json.Unmarshal(out, &told), string(out))
	return file, told
}
