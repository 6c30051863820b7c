// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/runtimes"
)

const (
	maxAttempts = 20               // of one recording
	patience    = 10 * time.Minute // with one program
	root        = ".."             // of the repository
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
	attempts := 1
	if *recording {
		attempts = maxAttempts
	}
	var said string
	for n := 1; n <= attempts; n++ {
		dir := t.TempDir()
		f := e.files(dir, j.String())
		answers, problems := s.attempt(t, e, j, f)
		if problems == "" {
			if *recording {
				keep(t, f, e.files(runs, j.String()), answers)
				t.Logf("recorded; attempts: %d", n)
			}
			return
		}
		said = problems
		t.Logf("attempt %d: %s", n, clip(problems))
		if *anew {
			keepFailed(t, dir, e.name+"-"+j.String(), problems)
		}
	}
	t.Errorf("the rules did not hold in %d attempts: %s", attempts, clip(said))
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
	recorder := "-XX:StartFlightRecording=filename=" + raw + ",settings=" + filepath.Join(home, "e2e/testdata/everything.jfc")
	if e.from == agent {
		// The pool and the wait give the agent room and time for all events, however busy the machine is.
		recorder = "-agentpath:" + filepath.Join(home, "build/libweft.so") + "=file=" + raw + ",service=" + e.service() + ",pool=64m,exit-wait=60s" + e.agent
	}
	path, err := s.classPath(home, e.jars)
	if err != nil {
		return err
	}
	args := slices.Concat([]string{recorder}, e.java, []string{"-cp", path}, e.program)
	replace(args, "WEFT", filepath.Join(home, "build/weft"))
	var truth string
	if e.load != nil {
		truth, err = serve(t, j, args, e.load)
	} else {
		truth, err = java(t, j, args, e.from == agent)
	}
	if err != nil {
		return err
	}
	if e.also != nil {
		also, err := java(t, j, slices.Concat([]string{"-cp", path}, e.also), true)
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

// java runs a program, and returns the last line that it prints: what it knows. If it must be the only one, no other text is printed.
func java(t *testing.T, j runtimes.JDK, args []string, only bool) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := jvm(ctx, j, args)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if err != nil || only && (len(lines) != 1 || stderr.Len() > 0) {
		return "", fmt.Errorf("%v: %w: want one line of output:\n%s%s", args, err, stdout.String(), stderr.String())
	}
	return lines[len(lines)-1], nil
}

// serve runs a server, puts it under load, and stops it as an operator would. It returns what the server knows.
func serve(t *testing.T, j runtimes.JDK, args []string, load *runtimes.Load) (string, error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return "", err
	}
	host, port, _ := strings.Cut(address, ":")
	replace(args, "HOST", host, "PORT", port)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := jvm(ctx, j, args)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // with the exit code of a signal
		cancel()
	}()
	truth, err := load.Run(ctx, address)
	err = errors.Join(err, cmd.Process.Signal(syscall.SIGTERM))
	<-ended
	if err != nil {
		return "", fmt.Errorf("%v: %w\n%s", args, err, said.String())
	}
	return truth, nil
}

// replace replaces words of arguments, each by the next one.
func replace(args []string, words ...string) {
	for i := range args {
		args[i] = strings.NewReplacer(words...).Replace(args[i])
	}
}

// jvm is the command line of a JVM, without variables that add options or make JVMs print a line.
func jvm(ctx context.Context, j runtimes.JDK, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(j.Home, "bin", "java"), args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"}, name)
	})
	return cmd
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
