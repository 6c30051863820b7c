// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package proc answers: is a program ready, and what does its process use?
package proc

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Ready waits until a collector's health check succeeds.
func Ready(ctx context.Context, health string, patience time.Duration) error {
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

// CPU returns the user and system time of a running process, in steps of 10 ms (proc_pid_stat(5)).
func CPU(pid int) (time.Duration, error) {
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

// Peak returns the peak RSS of a process in bytes, or false if it has ended.
func Peak(pid int) (int64, bool) { return status(pid, "VmHWM:") }

// RSS returns the memory of a process in bytes, or false if it has ended.
func RSS(pid int) (int64, bool) { return status(pid, "VmRSS:") }

// status returns a size in /proc/PID/status (proc_pid_status(5)).
func status(pid int, field string) (int64, bool) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // missing if it has ended
	_, rest, found := strings.Cut(string(text), "\n"+field)
	if !found {
		return 0, false
	}
	kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	return kb << 10, err == nil
}

// FreeAddress returns an address of localhost that was free a moment ago.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "localhost:0") //nolint:noctx // returns at once
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Tail returns the last ten lines.
func Tail(output string) string {
	const lines = 10
	all := strings.Split(strings.TrimSpace(output), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
