// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
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
		if *address, err = freeAddress(); err != nil {
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
		return u, fmt.Errorf("%w\n%s", err, tail(output.String()))
	}
	u.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return u, nil
}

// drive sends a load to a collector and asks it to end. The CPU time that it returns is negative: what was used before the load.
func drive(ctx context.Context, cmd *exec.Cmd, at addresses, send func(context.Context, addresses) error) (u usage, err error) {
	if err := ready(ctx, at.health); err != nil {
		return u, err
	}
	time.Sleep(200 * time.Millisecond) // the last work of the start
	before, err := cpu(cmd.Process.Pid)
	if err != nil {
		return u, err
	}
	if err := send(ctx, at); err != nil {
		return u, err
	}
	u.cpu = -before
	u.peak, _ = peak(cmd.Process.Pid)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return u, err
	}
	// Not the resource usage of the ended process, whose peak includes that of this process before exec.
	for {
		now, ok := peak(cmd.Process.Pid)
		if !ok {
			return u, nil
		}
		u.peak = now
		time.Sleep(10 * time.Millisecond)
	}
}

// ready waits until the health check succeeds.
func ready(ctx context.Context, health string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+health, http.NoBody)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close() // only the status counts
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the collector is not ready: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// cpu returns the user and system time of a running process, in steps of 10 ms (proc_pid_stat(5)).
func cpu(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	const utime, stime, tick = 14 - 3, 15 - 3, time.Second / 100 // fields are counted from 1, and two precede the state
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, err := strconv.Atoi(fields[utime])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[stime])
	return time.Duration(user+system) * tick, err
}

// peak returns the peak RSS of a process in bytes, or false if it has ended.
func peak(pid int) (int64, bool) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // missing if it has ended
	_, rest, found := strings.Cut(string(text), "\nVmHWM:")
	if !found {
		return 0, false
	}
	kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	return kb << 10, err == nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "localhost:0") //nolint:noctx // returns at once
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func tail(output string) string {
	const lines = 10
	all := strings.Split(strings.TrimSpace(output), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
