// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/internal/threadtest/golden"
)

const runs = "testdata/runs"

var (
	recording = flag.Bool("record", false, "record the runs that -run selects, and replace their files")
	anew      = flag.Bool("anew", false, "record the runs that -run selects, and judge them by rule; files stay")
)

// files are those of a recorded run.
type files struct{ recording, truth, answers string }

func (e *entry) files(folder, jdk string) files {
	name := filepath.Join(folder, e.name+"-"+jdk)
	return files{name + e.from.suffix(), name + ".truth.json", name + ".answers.txt"}
}

// TestRuns judges all recorded runs.
func TestRuns(t *testing.T) {
	if *recording || *anew {
		t.Skip("runs are recorded")
	}
	for i := range entries {
		e := &entries[i]
		t.Run(e.name, func(t *testing.T) {
			for _, jdk := range e.recorded(t) {
				t.Run(jdk, func(t *testing.T) {
					f := e.files(runs, jdk)
					r, answers, err := e.judge(t, f, jdk)
					require.NoError(t, err)
					e.check(t, r)
					golden.Compare(t, f.answers, answers)
				})
			}
		})
	}
}

// recorded lists the JDKs with a recording of the entry: an old one and a new one, or the latter only.
func (e *entry) recorded(t *testing.T) (jdks []string) {
	t.Helper()
	all, err := filepath.Glob(e.files(runs, "jdk[0-9][0-9]").recording)
	require.NoError(t, err)
	for _, file := range all {
		jdk := regexp.MustCompile(`jdk\d+`).FindString(strings.TrimPrefix(filepath.Base(file), e.name))
		jdks = append(jdks, jdk)
	}
	want := 2
	if e.least > virtualThreads {
		want = 1
	}
	require.GreaterOrEqual(t, len(jdks), want, "%v: record with make corpus RUN=%s", jdks, e.name)
	return jdks
}

// judge plays a recording. It checks what holds for each run, and returns it with all answers.
func (e *entry) judge(t spantest.T, f files, jdk string) (r *run, answers string, err error) {
	t.Helper()
	major, err := strconv.Atoi(strings.TrimPrefix(jdk, "jdk"))
	if err != nil {
		return nil, "", err
	}
	truth, err := os.ReadFile(f.truth)
	if err != nil {
		return nil, "", err
	}
	p, done, err := play(f.recording, e.engine)
	if err != nil {
		return nil, "", err
	}
	defer done()
	r = &run{Output: p.output(), entry: e, jdk: major, service: e.service(), truth: truth, played: p, recording: f.recording}
	spantest.CheckStructure(t, r.Output)
	spantest.CheckNothingLost(t, r.Output)
	checkSums(t, r)
	checkJaeger(t, r)
	answers, err = p.answers()
	return r, answers, err
}

// TestEachFileBelongsToAnEntry finds files that no test reads.
func TestEachFileBelongsToAnEntry(t *testing.T) {
	known := map[string]bool{}
	for i := range entries {
		for _, jdk := range entries[i].recorded(t) {
			f := entries[i].files(runs, jdk)
			known[f.recording], known[f.truth], known[f.answers] = true, true, true
		}
	}
	all, err := filepath.Glob(runs + "/*")
	require.NoError(t, err)
	for _, file := range all {
		if !known[file] {
			t.Errorf("%s belongs to no entry of the table: remove it", file)
		}
	}
}
