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
	"strings"
	"syscall"
	"time"

	"github.com/weft-otel/weft/bench/proc"
)

// collector is a running collector.
type collector struct {
	sampling
	cmd                   *exec.Cmd
	dir, socket           string
	page, health, metrics string
	output                bytes.Buffer
}

// patience is how long a collector may take to start and to stop.
const patience = time.Minute

// startCollector starts the collector with a file of config/ and more configuration, and samples its memory.
func startCollector(ctx context.Context, o *options, config string, more ...string) (c *collector, err error) {
	c = &collector{}
	if c.dir, err = os.MkdirTemp("", "weft-soak-"); err != nil {
		return nil, err
	}
	c.socket = filepath.Join(c.dir, "weft.sock")
	for _, address := range []*string{&c.page, &c.health, &c.metrics} {
		if *address, err = proc.FreeAddress(); err != nil {
			return nil, err
		}
	}
	_, port, _ := strings.Cut(c.metrics, ":")
	args := []string{"--config", filepath.Join("config", config)}
	for _, text := range append(more, "yaml:receivers::jvm_thread::protocols::stream::max_connections: 2000",
		"yaml:receivers::jvm_thread::protocols::stream::max_sessions: 2000", "yaml:service::telemetry::metrics::level: detailed",
		"yaml:service::telemetry::metrics::readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: "+port+"}}}}]") {
		args = append(args, "--config", text)
	}
	args = append(append(slices.Clone(o.before), o.program), args...)
	c.cmd = exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // the developer chooses the program
	c.cmd.Env = append(os.Environ(), "WEFT_ENDPOINT=unix://"+c.socket, "WEFT_OUT="+c.dir, "WEFT_HEALTH="+c.health, "WEFT_PAGE="+c.page, "WEFT_METRICS_PORT="+port)
	c.cmd.Env = append(c.cmd.Env, o.env...)
	c.cmd.Stderr = &c.output
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C reaches this program only
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if err := proc.Ready(ctx, c.health, patience); err != nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		return nil, fmt.Errorf("%w\n%s", err, proc.Tail(c.output.String()))
	}
	c.begin(ctx, c.cmd.Process.Pid)
	return c, nil
}

// end stops the collector. It must end by itself with code 0.
func (c *collector) end() error {
	c.finish()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	kill := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer kill.Stop()
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("%w\n%s", err, proc.Tail(c.output.String()))
	}
	return os.RemoveAll(c.dir)
}
