// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const patience = 2 * time.Minute // of a busy machine

// repository returns the root of the working tree.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	return root
}

// snapshotVersion returns the version that the pieces in build/release have, without the leading v.
func snapshotVersion(t *testing.T, root string) string {
	t.Helper()
	match := regexp.MustCompile(`(?m)^ {2}version: (\S+)$`).FindStringSubmatch(read(t, filepath.Join(root, "builder-config.yaml")))
	require.NotNil(t, match, "builder-config.yaml has no version")
	return match[1]
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// output runs a program to its end and returns what it writes to standard output; env nil is that of the test.
func output(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = dir, env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%v: %s%s", cmd.Args, out, stderr.Bytes())
	return string(out)
}

// process is a running program whose output is kept.
type process struct {
	cmd   *exec.Cmd
	out   *lockedBuffer
	ended chan struct{}
}

// lockedBuffer keeps the output of a program, which tests of this size keep short.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// start starts a program with SIGINT ignored, so that terminate can see whether it handles signals yet. The end of the test kills it if it
// still runs.
func start(t *testing.T, dir string, env []string, program string, args ...string) *process {
	t.Helper()
	cmd := exec.Command("/bin/sh", append([]string{"-c", `trap "" INT; exec "$0" "$@"`, program}, args...)...)
	p := &process{cmd: cmd, out: &lockedBuffer{}, ended: make(chan struct{})}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, p.out, p.out
	require.NoError(t, cmd.Start())
	go func() {
		_ = cmd.Wait() // the exit code is in ProcessState
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("%v wrote: %s", cmd.Args, p.out)
		}
	})
	return p
}

// until waits for a condition while the program runs.
func (p *process) until(t *testing.T, what string, met func() bool) {
	t.Helper()
	ok := false
	require.Eventually(t, func() bool {
		ok = met()
		select {
		case <-p.ended:
			return true
		default:
			return ok
		}
	}, patience, 20*time.Millisecond, what)
	require.True(t, ok, "the program ended before %s", what)
}

// terminate stops a collector as a service manager does. It handles SIGTERM and SIGINT from the same moment on, soon after it is ready;
// Go's runtime catches SIGTERM from the start, but an ignored SIGINT only then.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	p.until(t, "it handles signals", func() bool {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid)) // missing if it has ended
		_, rest, _ := strings.Cut(string(status), "\nSigCgt:\t")
		mask, _, _ := strings.Cut(rest, "\n")
		caught, err := strconv.ParseUint(mask, 16, 64) // a bit for each signal, from 1
		return err == nil && caught>>(syscall.SIGINT-1)&1 == 1
	})
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("%v does not end on SIGTERM", p.cmd.Args)
	}
	require.Equal(t, 0, p.cmd.ProcessState.ExitCode(), "exit code of %v", p.cmd.Args)
}
