// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/weft-otel/weft/e2e/load"
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

// pageInUse is one busy JVM on the page of a developer's machine.
func pageInUse(ctx context.Context, o *options) (rows []row, err error) {
	c, err := startCollector(ctx, o, "all-in-one.yaml")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.end()) }()
	shape := load.Shape{Threads: 50, Locks: 50, Classes: 2, Rate: 100_000, Batch: 20 * time.Millisecond}
	lasts := o.lasting(90 * time.Second)
	reading, stop := context.WithCancel(ctx)
	var page readers
	var open sync.WaitGroup
	open.Go(func() {
		if base, err := firstSession(reading, "http://"+c.page+"/api/sessions"); err == nil {
			page.read(reading, 10, base, base+"/threads", base+"/lanes", base+"/answer", base+"/classes", base+"/path", base+"/interactions", base+"/minimap")
		}
	})
	seen, err := agents(ctx, c.socket, 1, shape, lasts)
	stop()
	open.Wait()
	what := "one JVM, 100,000 events/s, all-in-one.yaml, 10 clients of the page"
	return []row{
		atMost(what+": peak RSS", c.peak()>>20, 700, "MB"),
		exactly(what+": events lost", seen.Lost, 0),
		{what + ": answers of the page", "no error", fmt.Sprintf("%d; %d too long for a path, %d refused, %d errors", page.answers.Load(), page.tooLong.Load(), page.refusals.Load(), page.failures.Load()), page.answers.Load() > 0 && page.refusals.Load()+page.failures.Load() == 0},
	}, err
}

// firstSession waits for a session and returns its URL.
func firstSession(ctx context.Context, sessions string) (string, error) {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, sessions, http.NoBody)
		if err != nil {
			return "", err
		}
		var list struct{ Sessions []struct{ ID string } }
		if response, err := http.DefaultClient.Do(request); err == nil {
			err = json.NewDecoder(response.Body).Decode(&list)
			_ = response.Body.Close()
			if err == nil && len(list.Sessions) > 0 {
				return sessions + "/" + list.Sessions[0].ID, nil
			}
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
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
