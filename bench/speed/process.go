// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/weft-otel/weft/bench/proc"
)

// spend runs a program and returns what it used, also if it failed, and the time that it took. Its output goes to out.
func spend(cmd *exec.Cmd, out *bytes.Buffer) (u usage, wall time.Duration, err error) {
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if out != nil {
		cmd.Stdout = out
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return u, 0, err
	}
	ended := make(chan struct{})
	polled := make(chan int64)
	go func() {
		var highest int64
		for {
			if now, ok := proc.Peak(cmd.Process.Pid); ok {
				highest = now
			}
			select {
			case <-ended:
				polled <- highest
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	err = cmd.Wait()
	wall = time.Since(begin)
	close(ended)
	u.peak = <-polled
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err != nil {
		return u, wall, fmt.Errorf("%s: %w\n%s", cmd.Path, err, proc.Tail(errs.String()))
	}
	return u, wall, nil
}

// jdk is a JDK of this machine.
type jdk struct{ home, version string }

func (j jdk) program(name string) string { return filepath.Join(j.home, "bin", name) }

// java returns the command that runs a program in a variant.
func (j jdk) java(ctx context.Context, v *variant, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, j.program("java"), slices.Concat(v.arguments, args)...)
}

// findJDKs returns the JDKs next to JAVA_HOME, or next to that of javac in PATH, in the order of their versions.
func findJDKs(ctx context.Context) (all []jdk, err error) {
	home := os.Getenv("JAVA_HOME")
	if home == "" {
		javac, err := exec.LookPath("javac")
		if err != nil {
			return nil, err
		}
		if javac, err = filepath.EvalSymlinks(javac); err != nil {
			return nil, err
		}
		home = filepath.Dir(filepath.Dir(javac))
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return nil, err
	}
	compilers, err := filepath.Glob(filepath.Join(filepath.Dir(home), "*", "bin", "javac"))
	if err != nil {
		return nil, err
	}
	for _, javac := range compilers {
		home, err := filepath.EvalSymlinks(filepath.Dir(filepath.Dir(javac)))
		if err != nil || slices.ContainsFunc(all, func(j jdk) bool { return j.home == home }) {
			continue // a link to nowhere, or to another of them
		}
		out, err := exec.CommandContext(ctx, filepath.Join(home, "bin", "javac"), "-version").Output()
		if err != nil {
			return nil, err
		}
		fields := bytes.FieldsFunc(out, func(r rune) bool { return r == ' ' || r == '.' || r == '\n' }) // javac 17.0.15
		if len(fields) < 2 {
			return nil, fmt.Errorf("javac -version of %s printed %q", home, out)
		}
		all = append(all, jdk{home, string(fields[1])})
	}
	slices.SortFunc(all, func(a, b jdk) int { return bytes.Compare([]byte(a.version), []byte(b.version)) })
	if len(all) == 0 {
		return nil, fmt.Errorf("no JDK next to %s", home)
	}
	return all, nil
}

// compile compiles Java sources into a new folder.
func (j jdk) compile(ctx context.Context, o *options, classpath string, sources ...string) (classes string, err error) {
	if classes, err = os.MkdirTemp(o.dir, "classes-"); err != nil {
		return "", err
	}
	args := append([]string{"-cp", classpath, "-d", classes}, sources...)
	if out, err := exec.CommandContext(ctx, j.program("javac"), args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("javac: %w\n%s", err, proc.Tail(string(out)))
	}
	return classes, nil
}

// need checks that make has built a file.
func need(path, target string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%s is missing: run make %s", path, target)
	}
	return nil
}
