// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// jvm is a real JVM with the agent: Steady.
type jvm struct {
	sampling
	cmd   *exec.Cmd
	input io.Closer
	dir   string
}

// startJVM starts a JVM that takes all memory of its heap at once, so that what grows is not its heap. It adds a few thousand events a second.
func startJVM(ctx context.Context, o *options, socket string) (j *jvm, err error) {
	j = &jvm{}
	if j.dir, err = os.MkdirTemp("", "weft-soak-jvm-"); err != nil {
		return nil, err
	}
	compile := exec.CommandContext(ctx, "javac", "-d", j.dir, filepath.Join("e2e", "soak", "Steady.java")) //nolint:gosec // a directory of its own
	if out, err := compile.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("javac: %w\n%s", err, out)
	}
	agent, err := filepath.Abs(o.agent)
	if err != nil {
		return nil, err
	}
	j.cmd = exec.CommandContext(ctx, "java", "-agentpath:"+agent+"=service=steady,endpoint=unix://"+socket, //nolint:gosec // the developer chooses the agent
		"-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-cp", j.dir, "Steady")
	j.cmd.Stderr = os.Stderr
	j.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches this program only
	if j.input, err = j.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := j.cmd.Start(); err != nil {
		return nil, err
	}
	j.begin(ctx, j.cmd.Process.Pid)
	return j, nil
}

// end lets the JVM end, which it must do with code 0.
func (j *jvm) end() error {
	j.finish()
	if err := j.input.Close(); err != nil {
		return err
	}
	if err := j.cmd.Wait(); err != nil {
		return fmt.Errorf("the JVM: %w", err)
	}
	return os.RemoveAll(j.dir)
}
