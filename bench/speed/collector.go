// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/weft-otel/weft/bench/proc"
)

// patience is how long a collector may take to be ready.
const patience = time.Minute

// usage is what a collector used for a load.
type usage struct {
	cpu  time.Duration // user and system time of its process, from readiness to its end
	peak int64         // peak RSS in bytes
}

// measure starts a collector, sends it a load and stops it.
func measure(ctx context.Context, program string, p parts, send func(context.Context, addresses) error) (u usage, err error) {
	dir, err := os.MkdirTemp("", "weft-speed-")
	if err != nil {
		return u, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	at := addresses{socket: filepath.Join(dir, "weft.sock")}
	for _, address := range []*string{&at.otlp, &at.health, &at.prometheus, &at.page} {
		if *address, err = proc.FreeAddress(); err != nil {
			return u, err
		}
	}
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(p.config(at)), 0o600); err != nil {
		return u, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // kills the collector after an error
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "--config", file)
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches this program only
	if err := cmd.Start(); err != nil {
		return u, err
	}
	u, err = drive(ctx, cmd, at, send)
	if err != nil {
		cancel()
	}
	if ended := cmd.Wait(); err == nil {
		err = ended
	}
	if err != nil {
		return u, fmt.Errorf("%w\n%s", err, proc.Tail(output.String()))
	}
	u.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return u, nil
}

// drive sends a load to a collector and asks it to end. The CPU time that it returns is negative: what was used before the load.
func drive(ctx context.Context, cmd *exec.Cmd, at addresses, send func(context.Context, addresses) error) (u usage, err error) {
	if err := proc.Ready(ctx, at.health, patience); err != nil {
		return u, err
	}
	time.Sleep(200 * time.Millisecond) // the last work of the start
	before, err := proc.CPU(cmd.Process.Pid)
	if err != nil {
		return u, err
	}
	if err := send(ctx, at); err != nil {
		return u, err
	}
	u.cpu = -before
	u.peak, _ = proc.Peak(cmd.Process.Pid)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return u, err
	}
	// Not the resource usage of the ended process, whose peak includes that of this process before exec.
	for {
		now, ok := proc.Peak(cmd.Process.Pid)
		if !ok {
			return u, nil
		}
		u.peak = now
		time.Sleep(10 * time.Millisecond)
	}
}
