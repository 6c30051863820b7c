// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/weft-otel/weft/bench/proc"
)

// running is a JVM that does its work until its input ends.
type running struct {
	cmd   *exec.Cmd
	stdin io.Closer
	errs  bytes.Buffer
}

// start runs a program in a variant until it prints a line.
func (s *virtuals) start(ctx context.Context, v *variant, line string, args ...string) (*running, error) {
	r := &running{cmd: s.jdk.java(ctx, v, args...)}
	r.cmd.Stderr = &r.errs
	stdin, err := r.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	r.stdin = stdin
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if strings.TrimSpace(lines.Text()) == line {
			return r, nil // it prints nothing more
		}
	}
	return nil, errors.Join(fmt.Errorf("the program ended before it printed %q", line), r.end())
}

// end ends the input of the program, and waits for it.
func (r *running) end() error {
	err := r.stdin.Close()
	if failed := r.cmd.Wait(); failed != nil {
		return errors.Join(err, fmt.Errorf("%w\n%s", failed, proc.Tail(r.errs.String())))
	}
	return err
}
