// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Command demo runs the sample exchange under the agent with a collector that sends its spans to a real Jaeger, and prints a summary of the
// spans. demo.sh starts it.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const service = "exchange"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	switch {
	case errors.Is(err, context.Canceled):
		os.Exit(130) // interrupted by the user
	case err != nil:
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// run runs the demo. All programs that it started have ended when it returns.
func run(ctx context.Context) (err error) {
	var p programs
	defer func() { err = errors.Join(err, p.stopAll()) }()
	if err := p.need("weft", "weft-collector", "libweft.so"); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "weft-demo-")
	if err != nil {
		return err
	}
	classes := filepath.Join(dir, "classes")
	if err := compile(ctx, classes); err != nil {
		return err
	}
	server, err := startJaeger(ctx, &p, dir)
	if err != nil {
		return err
	}
	collector, endpoint, err := startCollector(ctx, &p, dir, server)
	if err != nil {
		return err
	}
	if err := runExchange(ctx, classes, endpoint); err != nil {
		return err
	}
	if err := errors.Join(collector.stop(), summarize(ctx, filepath.Join(dir, "spans.json"))); err != nil {
		return err
	}
	return server.show(ctx)
}

// startCollector starts a collector that writes spans to a file, and sends them to Jaeger.
func startCollector(ctx context.Context, p *programs, dir string, server *jaeger) (c *program, endpoint string, err error) {
	endpoint = "unix://" + filepath.Join(dir, "weft.sock")
	health, err := freeAddress()
	if err != nil {
		return nil, "", err
	}
	metrics, err := freePort()
	if err != nil {
		return nil, "", err
	}
	env := []string{
		"WEFT_ENDPOINT=" + endpoint, "WEFT_OUT=" + dir, "WEFT_WINDOW=" + cmp.Or(os.Getenv("WEFT_WINDOW"), "1s"),
		"WEFT_HEALTH=" + health, "WEFT_METRICS_PORT=" + metrics, "JAEGER_ENDPOINT=" + server.otlp,
	}
	args := []string{
		"--config", "config/jaeger.yaml", "--config", "yaml:exporters::file::path: " + filepath.Join(dir, "spans.json"),
		"--config", "yaml:service::pipelines::traces::exporters: [otlp_grpc, file]",
	}
	c, err = p.start(env, filepath.Join(dir, "collector.log"), "build/weft-collector", args...)
	if err != nil {
		return nil, "", err
	}
	err = c.ready(ctx, "http://"+health)
	return c, endpoint, err
}

func runExchange(ctx context.Context, classes, endpoint string) error {
	agent, err := filepath.Abs("build/libweft.so")
	if err != nil {
		return err
	}
	args := []string{
		"-agentpath:" + agent + "=endpoint=" + endpoint + ",service=" + service, "-cp", classes,
		"com.acme.orders.Exchange", cmp.Or(os.Getenv("DEMO_SECONDS"), "10"),
	}
	fmt.Printf("Running a small stock exchange under the agent:\n\n  java -agentpath:build/libweft.so=endpoint=...,service=%s ...Exchange\n  ", service)
	java := exec.CommandContext(ctx, javaProgram("java"), args...)
	java.Cancel = func() error { return java.Process.Signal(syscall.SIGTERM) }
	java.WaitDelay = 5 * time.Second
	java.Stdout, java.Stderr = os.Stdout, os.Stderr
	if err := java.Run(); err != nil {
		return fmt.Errorf("the exchange: %w", cmp.Or(ctx.Err(), err))
	}
	fmt.Println()
	return nil
}

func compile(ctx context.Context, classes string) error {
	sources, err := filepath.Glob("e2e/jvm/com/acme/orders/*.java")
	if err != nil {
		return err
	}
	javac := exec.CommandContext(ctx, javaProgram("javac"), append([]string{"--release", "11", "-d", classes}, sources...)...)
	if out, err := javac.CombinedOutput(); err != nil {
		return fmt.Errorf("javac: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// javaProgram returns the path of a JDK program in JAVA_HOME, or its name if JAVA_HOME is not set.
func javaProgram(name string) string {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return filepath.Join(home, "bin", name)
	}
	return name
}

func summarize(ctx context.Context, spans string) error {
	weft := exec.CommandContext(ctx, "build/weft", "summary", spans)
	weft.Stdout, weft.Stderr = os.Stdout, os.Stderr
	if err := weft.Run(); err != nil {
		return fmt.Errorf("weft summary: %w", err)
	}
	fmt.Printf("\nThe spans are in %s\n(one OTLP JSON object a line; print this summary again with build/weft summary FILE)\n", spans)
	return nil
}
