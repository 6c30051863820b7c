// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/weft-otel/weft/e2e/kept"
)

// run is one run of a test.
type run struct {
	passed, skipped bool
	took            time.Duration
	output          string // file
}

// run runs a test in a process group and with temporary files of its own. Its output is in a folder, with what it leaves if it fails.
func (s *suite) run(ctx context.Context, test, folder string) (r run, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return r, err
	}
	temporary, err := os.MkdirTemp("", "weft-live-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(temporary)                                          //nolint:errcheck // a temporary folder
	if err := os.Chmod(temporary, os.ModeSticky|os.ModePerm); err != nil { // like /tmp: some tests run programs of other users
		return r, err
	}
	r.output = filepath.Join(folder, "output.txt")
	output, err := os.Create(r.output)
	if err != nil {
		return r, err
	}
	limited, stop := context.WithTimeoutCause(ctx, s.limit, errHangs)
	defer stop()
	cmd := exec.CommandContext(limited, s.program, append([]string{"-test.run", "^" + test + "$", "-test.v", "-test.timeout", "0"}, s.flags...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, output, output
	cmd.Env = append(os.Environ(), "TMPDIR="+temporary, kept.Variable+"="+folder, kept.Classes+"="+s.classes)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// A test that hangs says where: Go's runtime prints all stacks on SIGQUIT.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = 10 * time.Second
	begin := time.Now()
	failure := cmd.Run()
	r.took = time.Since(begin)
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // programs that the test has left, if any
	}
	if errors.Is(context.Cause(limited), errHangs) {
		fmt.Fprintf(output, "--- FAIL: %s hangs: it was ended after %v\n", test, s.limit)
		if _, err := kept.Copy(folder, temporary, kept.Limit); err != nil {
			return r, err
		}
	} else if exit := (*exec.ExitError)(nil); failure != nil && !errors.As(failure, &exit) {
		return r, failure // it could not be started
	}
	if err := output.Close(); err != nil {
		return r, err
	}
	r.passed = failure == nil
	r.skipped, err = contains(r.output, "--- SKIP: "+test+" ")
	return r, err
}

// contains reports whether a line of a file starts with a text.
func contains(file, text string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), text) {
			return true, nil
		}
	}
	return false, lines.Err()
}

// loadAverage returns the load average of the last minute, or 0 if the system states none.
func loadAverage() (load float64) {
	text, _ := os.ReadFile("/proc/loadavg")
	_, _ = fmt.Sscan(string(text), &load)
	return load
}

// errHangs is why a run ends that takes longer than its limit.
var errHangs = errors.New("hangs")
