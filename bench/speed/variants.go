// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// variant is a way to run a JVM.
type variant struct {
	name      string
	agent     bool
	arguments []string
}

// The variants, by index.
const (
	none = iota
	details
	aggregated
	flightRecorder
	asyncProfiler
)

// newVariants returns the variants, and the sink to which the agent sends.
func newVariants(ctx context.Context, o *options, j jdk) ([]variant, *sink, error) {
	if err := errors.Join(need("build/libweft.so", "build"), need(filepath.Join(peers, ".fetched"), "build/peers/.fetched")); err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp(o.dir, "variants-")
	if err != nil {
		return nil, nil, err
	}
	library, err := filepath.Abs("build/libweft.so")
	if err != nil {
		return nil, nil, err
	}
	jars, err := filepath.Glob(filepath.Join(filepath.Dir(library), "peers", "async-profiler-*.jar"))
	if err != nil || len(jars) != 1 {
		return nil, nil, fmt.Errorf("async-profiler in %s: %q, %w", peers, jars, err)
	}
	unpack := exec.CommandContext(ctx, j.program("jar"), "xf", jars[0], "linux-x64/libasyncProfiler.so")
	unpack.Dir = dir
	if out, err := unpack.CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("jar: %w\n%s", err, out)
	}
	settings := filepath.Join(dir, "all.jfc")
	if err := os.WriteFile(settings, []byte(flightSettings(threadEvents())), 0o600); err != nil {
		return nil, nil, err
	}
	socket := filepath.Join(dir, "agents")
	s, err := newSink(socket)
	if err != nil {
		return nil, nil, err
	}
	// Buffers that never overflow: what is dropped costs nothing.
	agent := "-agentpath:" + library + "=endpoint=unix://" + socket + ",pool=256m,retain=64m"
	file := filepath.Join(dir, "peer.jfr")
	profiler := "-agentpath:" + filepath.Join(dir, "linux-x64", "libasyncProfiler.so") + "=start,event=lock,lock=0,loglevel=none,jfr,file=" + file
	return []variant{
		none:           {name: "none"},
		details:        {"details", true, []string{agent}},
		aggregated:     {"aggregated", true, []string{agent + ",mode=aggregated"}},
		flightRecorder: {"JFR", false, []string{"-XX:StartFlightRecording:filename=" + file + ",settings=" + settings + ",maxsize=64m", "-Xlog:jfr*=off"}},
		asyncProfiler:  {"async-profiler", false, []string{profiler}},
	}, s, nil
}

// threadEvents are the flight recorder's events of threads.
func threadEvents() []string {
	return []string{"JavaMonitorEnter", "JavaMonitorWait", "ThreadPark", "ThreadSleep", "ThreadStart", "ThreadEnd"}
}

// flightSettings turns on these events and nothing else, without thresholds.
func flightSettings(events []string) string {
	var b strings.Builder
	b.WriteString(`<?xml version="1.0"?><configuration version="2.0">`)
	for _, event := range events {
		fmt.Fprintf(&b, `<event name="jdk.%s"><setting name="enabled">true</setting><setting name="stackTrace">true</setting>`+
			`<setting name="threshold">0 ns</setting></event>`, event)
	}
	b.WriteString("</configuration>")
	return b.String()
}
