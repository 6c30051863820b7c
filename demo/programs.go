// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// patience is how long a program may take to be ready or to end.
const patience = 5 * time.Minute

// programs are started by the demo and stopped at its end.
type programs struct{ running []*program }

type program struct {
	cmd   *exec.Cmd
	log   string // file with its output
	ended chan error
	done  bool
}

// need checks that programs have been built.
func (p *programs) need(names ...string) error {
	for _, name := range names {
		if _, err := os.Stat(filepath.Join("build", name)); err != nil {
			return fmt.Errorf("build/%s is missing: run make build", name)
		}
	}
	return nil
}

func (p *programs) start(env []string, log, name string, args ...string) (*program, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	started := &program{cmd: exec.Command(name, args...), log: log, ended: make(chan error, 1)}
	started.cmd.Env = append(os.Environ(), env...)
	started.cmd.Stdout, started.cmd.Stderr = out, out
	started.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches the demo only, which stops them in order
	if err := started.cmd.Start(); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	p.running = append(p.running, started)
	go func() {
		err := started.cmd.Wait()
		started.ended <- errors.Join(err, out.Close())
	}()
	return started, nil
}

// ready waits until a GET request of the address returns 200.
func (p *program) ready(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
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
		case err := <-p.ended:
			p.done = true
			return fmt.Errorf("%s ended: %w\n%s", p.cmd.Path, err, p.tail())
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\n%s", p.cmd.Path, ctx.Err(), p.tail())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stop stops a program as an operator would, and waits for it.
func (p *program) stop() error {
	if p.done {
		return nil
	}
	p.done = true
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may just have ended
	select {
	case err := <-p.ended:
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", p.cmd.Path, err, p.tail())
		}
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s does not end: %w", p.cmd.Path, errors.Join(p.cmd.Process.Kill(), <-p.ended))
	}
}

func (p *programs) stopAll() error {
	var errs []error
	for _, running := range slices.Backward(p.running) {
		errs = append(errs, running.stop())
	}
	return errors.Join(errs...)
}

// tail returns the end of a program's output.
func (p *program) tail() string {
	const lines = 10
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

func freeAddress() (string, error) {
	port, err := freePort()
	return "localhost:" + port, err
}

// freePort returns an unused port.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "localhost:0") //nolint:noctx // returns at once
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}
