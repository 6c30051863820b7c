// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// parts are the components between a receiver and the nop exporter.
type parts struct {
	otlp        bool // the anchors: spans over OTLP instead of events from an agent
	spanMetrics bool
	threadSpan  bool
	contention  bool
	page        bool
	manyJVMs    bool // limits for more connections than the default
}

// addresses are where a collector listens.
type addresses struct{ socket, otlp, health, prometheus, page string }

// config returns a configuration with internal metrics off, which only makes the anchors cheaper.
func (p parts) config(at addresses) string {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	engine := "heap_growth: 75, memory_limit_mib: 1500" // as in config/metrics.yaml
	if p.page {
		engine = "heap_growth: 10, max_intervals_per_window: 300000, memory_limit_mib: 750" // as in config/all-in-one.yaml
	}
	if p.manyJVMs {
		engine += ", max_sessions: 2000"
	}
	add("extensions:\n  health_check: {endpoint: %q}\n  thread_engine: {%s}", at.health, engine)
	add("receivers:\n  otlp: {protocols: {grpc: {endpoint: %q}}}", at.otlp)
	add("  jvm_thread: {protocols: {stream: {endpoint: %q, max_connections: 2000, max_sessions: 2000}}}", "unix://"+at.socket)
	add("processors:\n  thread_span: {engine: thread_engine}")
	add("connectors:\n  contention: {engine: thread_engine}\n  span_metrics: {}\n  forward:")
	add("exporters:\n  nop:\n  prometheus: {endpoint: %q}", at.prometheus)
	add("  thread_view: {endpoint: %q, engine: thread_engine}", at.page)
	add("service:\n  extensions: [health_check, thread_engine]\n  telemetry: {metrics: {level: none}}\n  pipelines:")
	switch {
	case p.spanMetrics:
		add("    traces: {receivers: [otlp], exporters: [span_metrics, nop]}")
		add("    metrics: {receivers: [span_metrics], exporters: [prometheus]}")
	case p.otlp:
		add("    traces: {receivers: [otlp], exporters: [nop]}")
	default:
		p.events(add)
	}
	return b.String()
}

// events adds the pipelines of an agent's events.
func (p parts) events(add func(format string, args ...any)) {
	var outlets []string
	if p.contention {
		outlets = append(outlets, "contention")
		add("    metrics: {receivers: [contention], exporters: [prometheus]}")
		add("    logs: {receivers: [contention], exporters: [nop]}")
	}
	if p.page {
		outlets = append(outlets, "thread_view")
	}
	if p.threadSpan {
		outlets = append(outlets, "forward")
		add("    traces/spans: {receivers: [forward], processors: [thread_span], exporters: [nop]}")
	}
	if len(outlets) == 0 {
		outlets = []string{"nop"}
	}
	add("    traces: {receivers: [jvm_thread], exporters: [%s]}", strings.Join(outlets, ", "))
}
