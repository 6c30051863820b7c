// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/weft-otel/weft/bench/load"
)

// spansToNowhere are configurations that replace the exporter of spans, whose server would take part of this machine.
var spansToNowhere = []string{"yaml:exporters::nop:", "yaml:service::pipelines::traces::exporters: [nop]"}

// thousandAgents is a large service: many JVMs, few events each.
func thousandAgents(ctx context.Context, o *options) (rows []row, err error) {
	c, err := startCollector(ctx, o, "metrics.yaml", spansToNowhere...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.end()) }()
	shape := load.Shape{Threads: 10, Locks: 10, Classes: 2, Rate: 100, Batch: 50 * time.Millisecond}
	seen, err := agents(ctx, c.socket, 1000, shape, o.lasting(time.Minute))
	what := fmt.Sprintf("1,000 agents, %d events/s", seen.Events/int(o.lasting(time.Minute).Seconds()))
	return []row{
		atMost(what+": peak RSS", c.peak()>>20, 1200, "MB"),
		atMost(what+": p99 until a batch is acknowledged", seen.P99.Milliseconds(), 500, "ms"),
		exactly(what+": events lost in agents", seen.Lost, 0),
		exactly(what+": events acknowledged", seen.Acked, seen.Events),
	}, err
}

// overload is more than the collector can take.
func overload(ctx context.Context, o *options) (rows []row, err error) {
	c, err := startCollector(ctx, o, "metrics.yaml", spansToNowhere...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.end()) }()
	shape := load.Shape{Threads: 50, Locks: 50, Classes: 2, Rate: 1500, Batch: 50 * time.Millisecond}
	seen, err := agents(ctx, c.socket, 200, shape, o.lasting(time.Minute))
	what := fmt.Sprintf("200 agents, %d events/s", (seen.Events+seen.Lost)/int(o.lasting(time.Minute).Seconds()))
	return []row{
		atMost(what+": peak RSS", c.peak()>>20, 2048, "MB"),
		atMost(what+": longest time until a batch is acknowledged", seen.Longest.Milliseconds(), 2000, "ms"),
		exactly(what+": events acknowledged, of those that were not reported as lost", seen.Acked, seen.Events),
	}, err
}

// steady is a normal load for a long time, by simulated agents and a JVM.
func steady(ctx context.Context, o *options) (rows []row, err error) {
	c, err := startCollector(ctx, o, "metrics.yaml", spansToNowhere...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.end()) }()
	j, err := startJVM(ctx, o, c.socket)
	if err != nil {
		return nil, err
	}
	shape := load.Shape{Threads: 50, Locks: 50, Classes: 2, Rate: 5000, Batch: 50 * time.Millisecond}
	begin, lasts := time.Now(), o.lasting(30*time.Minute)
	seen, err := agents(ctx, c.socket, 10, shape, lasts)
	err = errors.Join(err, j.end())
	what := fmt.Sprintf("10 agents, 50,000 events/s, and a JVM, %v", lasts.Round(time.Second))
	return []row{
		c.growth(what+", the collector", begin, lasts),
		j.growth(what+", the JVM", begin, lasts),
		exactly(what+": events lost", seen.Lost, 0),
		exactly(what+": events acknowledged", seen.Acked, seen.Events),
	}, err
}

func atMost(what string, figure, goal int64, unit string) row {
	return row{what, fmt.Sprintf("≤ %d %s", goal, unit), fmt.Sprintf("%d %s", figure, unit), figure <= goal}
}

func exactly(what string, figure, goal int) row {
	return row{what, strconv.Itoa(goal), strconv.Itoa(figure), figure == goal}
}
