// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/runtimes"
)

const (
	maxAttempts = 20   // of one recording
	root        = ".." // of the repository
)

// studio is what programs are recorded with.
type studio struct {
	jdks    []runtimes.JDK
	classes string            // folder of the programs without jars
	paths   map[string]string // class paths by folder of e2e
}

// TestRecord records the selected runs on each JDK. With -record it repeats a run until its rules hold, and keeps its files. With -anew it records
// each run once, and keeps the files of those that break a rule.
func TestRecord(t *testing.T) {
	if !*recording && !*anew {
		t.Skip("recorded runs are judged as they are: use -record or -anew")
	}
	jdks := runtimes.JDKs()
	require.NotEmpty(t, jdks, "install a JDK or set JAVA_HOME")
	s := &studio{jdks: jdks, classes: t.TempDir(), paths: map[string]string{}}
	require.NoError(t, runtimes.Compile(root, jdks[0].Home, s.classes))
	for i := range entries {
		e := &entries[i]
		t.Run(e.name, func(t *testing.T) {
			on := jdks
			if e.least == virtualThreads {
				var err error
				on, err = runtimes.Virtual(root, jdks)
				require.NoError(t, err)
			}
			for _, j := range on {
				if j.Major >= e.least {
					t.Run(j.String(), func(t *testing.T) { s.run(t, e, j) })
				}
			}
		})
	}
}

func (s *studio) run(t *testing.T, e *entry, j runtimes.JDK) {
	t.Helper()
	if *anew {
		s.judgeAnew(t, e, j)
		return
	}
	var said string
	for n := range maxAttempts {
		f := e.files(t.TempDir(), j.String())
		answers, problems := s.attempt(t, e, j, f)
		if problems == "" {
			keep(t, f, e.files(runs, j.String()), answers)
			t.Logf("recorded; attempts: %d", n+1)
			return
		}
		said = problems
		t.Logf("attempt %d: %s", n+1, clip(problems))
	}
	t.Errorf("the rules did not hold in %d attempts: %s", maxAttempts, clip(said))
}

// judgeAnew records a run, twice more if it breaks a rule, and fails if only one of the three runs holds.
func (s *studio) judgeAnew(t *testing.T, e *entry, j runtimes.JDK) {
	t.Helper()
	failed := 0
	for n := 0; n == 0 || failed > 0 && n < 3; n++ {
		dir := t.TempDir()
		_, problems := s.attempt(t, e, j, e.files(dir, j.String()))
		if problems == "" {
			continue
		}
		failed++
		t.Logf("run %d: %s", n+1, clip(problems))
		keepFailed(t, dir, fmt.Sprintf("%s-%s-%d", e.name, j, n+1), problems)
	}
	switch {
	case failed > 1:
		t.Errorf("failed: %d of 3 runs broke a rule", failed)
	case failed == 1:
		t.Log("flaky: 1 of 3 runs broke a rule")
	}
}

// attempt records a run and judges it. Problems are what is wrong.
func (s *studio) attempt(t *testing.T, e *entry, j runtimes.JDK, f files) (answers, problems string) {
	t.Helper()
	if err := s.record(t, e, j, f); err != nil {
		return "", err.Error()
	}
	var of attempt
	of.judge(func() {
		r, text, err := e.judge(&of, f, j.String())
		if err != nil {
			of.Errorf("%v", err)
			return
		}
		answers = text
		e.check(&of, r)
	})
	return answers, of.problems.String()
}

// record runs a program, and writes its recording and its truth.
func (s *studio) record(t *testing.T, e *entry, j runtimes.JDK, f files) error {
	t.Helper()
	home, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	raw := strings.TrimSuffix(f.recording, ".gz")
	settings := filepath.Join(filepath.Dir(raw), "everything.jfc") // a flight recording has the JVM's options, which must not name this checkout
	text, err := os.ReadFile(filepath.Join(home, "e2e/testdata/everything.jfc"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(settings, text, 0o600); err != nil {
		return err
	}
	recorder := "-XX:StartFlightRecording=filename=" + raw + ",settings=" + settings
	if e.from == agent {
		// The pool and the wait give the agent room and time for all events, however busy the machine is.
		recorder = "-agentpath:" + filepath.Join(home, "build/libweft.so") + "=file=" + raw + ",service=" + e.service() + ",pool=64m,exit-wait=60s" + e.agent
	}
	path, err := s.classPath(home, e.jars)
	if err != nil {
		return err
	}
	args := slices.Concat([]string{recorder}, e.java, []string{"-cp", path}, e.program)
	for i, word := range args {
		args[i] = strings.ReplaceAll(word, "WEFT", filepath.Join(home, "build/weft"))
	}
	drive := e.drive
	if drive == nil {
		drive = alone(e.from == agent)
	}
	truth, err := drive(t, j, args)
	if err != nil {
		return err
	}
	if e.also != nil {
		also, err := alone(true)(t, j, slices.Concat([]string{"-cp", path}, e.also))
		if err != nil {
			return err
		}
		truth = fmt.Sprintf("{\"truth\":%s,\"also\":%s}", truth, also)
	}
	if err := os.WriteFile(f.truth, []byte(truth+"\n"), 0o600); err != nil {
		return err
	}
	return pack(raw, f.recording)
}

// classPath compiles the programs of a folder of e2e once.
func (s *studio) classPath(home, jars string) (string, error) {
	if jars == "" {
		return s.classes, nil
	}
	if s.paths[jars] == "" {
		path, err := runtimes.ClassPath(home, s.jdks[0].Home, jars, s.classes, s.classes)
		if err != nil {
			return "", err
		}
		s.paths[jars] = path
	}
	return s.paths[jars], nil
}

// pack compresses a recording.
func pack(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(to, b.Bytes(), 0o600)
}

// keep moves the files of a run to the corpus.
func keep(t *testing.T, from, to files, answers string) {
	t.Helper()
	for was, is := range map[string]string{from.recording: to.recording, from.truth: to.truth} {
		content, err := os.ReadFile(was)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(is, content, 0o600))
	}
	require.NoError(t, os.WriteFile(to.answers, []byte(answers), 0o600))
}

// keepFailed copies what is left of a run to where developers look for it.
func keepFailed(t *testing.T, dir, name, problems string) {
	t.Helper()
	to := filepath.Join(root, "build/failed", name)
	require.NoError(t, os.RemoveAll(to))
	require.NoError(t, os.CopyFS(to, os.DirFS(dir)))
	require.NoError(t, os.WriteFile(filepath.Join(to, "problems.txt"), []byte(problems), 0o600))
}

// attempt collects the problems of a recording, which may be recorded again.
type attempt struct{ problems strings.Builder }

func (*attempt) Helper() {}

func (a *attempt) Errorf(format string, args ...any) { fmt.Fprintf(&a.problems, format+"\n", args...) }

// FailNow ends judge.
func (a *attempt) FailNow() {
	if a.problems.Len() == 0 {
		a.Errorf("failed")
	}
	runtime.Goexit()
}

// judge runs checks until they end or fail.
func (a *attempt) judge(checks func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		checks()
	}()
	<-done
}

// clip returns the begin of a text.
func clip(text string) string {
	const limit = 1500
	if len(text) > limit {
		return text[:limit] + "…"
	}
	return text
}
