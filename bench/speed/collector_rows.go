// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"time"

	"github.com/weft-otel/weft/bench/load"
)

// The anchors, to which other rows are compared.
const (
	otlpToNop         = "otlp → nop"
	otlpToSpanMetrics = "otlp → span_metrics → prometheus"
	oneJVM            = "stream → thread_span → nop"
)

// row is a configuration under a load, and its goal.
type row struct {
	name   string
	parts  parts
	shape  load.Shape
	events int           // of all JVMs; zero: as many as the command line says
	jvms   int           // zero: one
	paced  time.Duration // if set, events are sent at their rate for this time, and once only
	pages  int           // browsers that follow the session
	anchor string        // name of the row to compare with
	goal   goal
}

// goal is the most that a row may use; a field that is zero has no limit.
type goal struct {
	ratio float64 // CPU time of an event relative to the anchor
	ns    float64 // CPU time of an event
	cores float64 // CPU time of a second
	mb    float64 // peak RSS
}

func collectorRows() []row {
	page := parts{threadSpan: true, page: true}
	list := []row{
		{name: otlpToNop, parts: parts{otlp: true}},
		{name: otlpToSpanMetrics, parts: parts{otlp: true, spanMetrics: true}},
		{name: "stream → nop", anchor: otlpToNop, goal: goal{ratio: 0.15}},
		{name: oneJVM, parts: parts{threadSpan: true}, anchor: otlpToNop, goal: goal{ratio: 0.6}},
		{name: "stream → contention → prometheus", parts: parts{contention: true}, anchor: otlpToSpanMetrics, goal: goal{ratio: 1}},
		{name: "metrics.yaml: contention, thread_span", parts: parts{contention: true, threadSpan: true}, anchor: otlpToNop, goal: goal{ns: 1300}},
		{name: "all-in-one.yaml: thread_span, page", parts: page, anchor: otlpToNop},
		{name: "all: contention, thread_span, page", parts: parts{contention: true, threadSpan: true, page: true}, anchor: otlpToNop, goal: goal{ns: 1700}},
	}
	scaled := func(name string, most float64, change func(*load.Shape)) {
		r := row{name: name, parts: parts{threadSpan: true}, shape: load.JVM(), anchor: oneJVM, goal: goal{ratio: most}}
		change(&r.shape)
		list = append(list, r)
	}
	scaled("5,000 threads instead of 50", 1.3, func(s *load.Shape) { s.Threads = 5000 })
	scaled("3,000 lock classes and locks instead of 2 and 50", 1.3, func(s *load.Shape) { s.Locks, s.Classes = 3000, 3000 })
	scaled("100,000 locks instead of 50", 0, func(s *load.Shape) { s.Locks = 100_000 })
	scaled("batches of 5 ms instead of 100 ms", 0, func(s *load.Shape) { s.Batch = 5 * time.Millisecond })
	busy := load.JVM()
	busy.Rate = 70_000
	busier := busy
	busier.Rate = 100_000
	visited := busy
	visited.Rate = 60_000
	many := load.Shape{Threads: 10, Locks: 10, Classes: 2, Rate: 100, Batch: 50 * time.Millisecond}
	return append(
		list,
		// Long enough for the page to reach its 256 MiB.
		row{name: "one JVM, 70,000 events/s, all-in-one.yaml", parts: page, shape: busy, paced: 2 * time.Minute, goal: goal{mb: 600}},
		row{name: "one JVM, 100,000 events/s, 20 pages, all-in-one.yaml", parts: page, shape: busier, paced: 2 * time.Minute, pages: 20, goal: goal{mb: 700}},
		row{name: "one JVM, 60,000 events/s, 60 pages, all-in-one.yaml", parts: page, shape: visited, paced: 2 * time.Minute, pages: 60, goal: goal{mb: 700}},
		row{
			name: "1,000 JVMs, 100 events/s each, metrics.yaml", parts: parts{contention: true, threadSpan: true, manyJVMs: true},
			shape: many, jvms: 1000, paced: 30 * time.Second, goal: goal{cores: 1, mb: 1200},
		},
	)
}

// stagger waits between the starts of two JVMs.
func stagger() { time.Sleep(time.Millisecond) }
