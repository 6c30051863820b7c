// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/weft-otel/weft/bench/load"
)

// starvedMiB is WEFT_MEMORY_MIB of a collector that gets far too little memory and CPU time.
const starvedMiB = 256

// starvedRetain is how many bytes of batches each agent keeps, less than by default, so that they drop events, and what they keep is
// processed soon afterwards.
const starvedRetain = 64 << 10

// rootsOnly writes the roots of windows to a file, and nothing else.
func rootsOnly(file string) []string {
	return []string{
		"yaml:exporters::file: {path: " + file + "}",
		"yaml:processors::filter: {error_mode: propagate, trace_conditions: ['span.attributes[\"weft.window.cut\"] == nil']}",
		"yaml:service::pipelines::traces::processors: [thread_span, filter]", "yaml:service::pipelines::traces::exporters: [file]",
	}
}

// starved is an overload of a collector with little memory, which shares one CPU with another program.
func starved(ctx context.Context, o *options) (rows []row, err error) {
	dir, err := os.MkdirTemp("", "weft-soak-roots-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	spinning, stop := context.WithCancel(ctx)
	defer stop()
	spinner := exec.CommandContext(spinning, "taskset", "-c", "0", "sh", "-c", "while :; do :; done")
	if err := spinner.Start(); err != nil {
		return nil, err
	}
	defer func() { stop(); _ = spinner.Wait() }() // it was killed
	little := *o
	little.before = []string{"taskset", "-c", "0"}
	little.env = []string{"GOMAXPROCS=1", "WEFT_MEMORY_MIB=" + strconv.Itoa(starvedMiB)}
	file := filepath.Join(dir, "roots.json")
	c, err := startCollector(ctx, &little, "metrics.yaml", rootsOnly(file)...)
	if err != nil {
		return nil, err
	}
	shape := load.Shape{Threads: 50, Locks: 50, Classes: 2, Rate: 1500, Batch: 50 * time.Millisecond}
	seen, err := agentsWith(ctx, c.socket, 200, shape, o.lasting(time.Minute), starvedRetain)
	sums, ended := c.counts(ctx)
	err = errors.Join(err, ended)
	peak := c.peak()
	if err := errors.Join(err, c.end()); err != nil {
		return nil, err
	}
	shown, err := shedOnRoots(file)
	what := fmt.Sprintf("200 agents, %d events/s, %d MiB, half of a CPU", (seen.Events+seen.Lost)/int(o.lasting(time.Minute).Seconds()), starvedMiB)
	return []row{
		atMost(what+": peak RSS", peak>>20, starvedMiB, "MB"),
		atMost(what+": longest time without an acknowledgement for an agent that waits", seen.Pause.Milliseconds(), 2000, "ms"),
		exactly(what+": events acknowledged, of those that were not reported as lost", seen.Acked, seen.Events),
		exactly(what+": events processed or counted as lost, of those", sums.events+sums.lost("shed")+sums.lost("missed")+sums.lost("refused"), seen.Events),
		exactly(what+": shed events on roots, of those counted", shown, sums.lost("shed")),
	}, err
}

// counts is what a collector says that it did.
type counts struct {
	events, sessions int
	lostBy           map[string]int
}

func (t *counts) lost(where string) int { return t.lostBy[where] }

// counts waits until all sessions have ended, and returns what was counted.
func (c *collector) counts(ctx context.Context) (counts, error) {
	for end := time.Now().Add(patience); ; {
		t, err := c.ask(ctx)
		if err == nil && t.sessions == 0 || time.Now().After(end) || ctx.Err() != nil {
			return t, err
		}
		time.Sleep(time.Second)
	}
}

func (c *collector) ask(ctx context.Context) (t counts, err error) {
	t.lostBy = make(map[string]int)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.metrics+"/metrics", http.NoBody)
	if err != nil {
		return t, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return t, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		series, text, _ := strings.Cut(lines.Text(), " ") // no label has a space in it
		name, labels, _ := strings.Cut(series, "{")
		value, _ := strconv.ParseFloat(text, 64) // comments have none
		switch name {
		case "otelcol_processor_thread_span_events":
			t.events += int(value)
		case "otelcol_processor_thread_span_sessions":
			t.sessions += int(value)
		case "otelcol_processor_thread_span_events_lost":
			_, where, _ := strings.Cut(labels, `where="`)
			where, _, _ = strings.Cut(where, `"`)
			t.lostBy[where] += int(value)
		}
	}
	return t, nil
}

// shedOnRoots adds up what the roots in a file say.
func shedOnRoots(file string) (sum int, err error) {
	in, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer in.Close() //nolint:errcheck // it was read
	type value struct{ IntValue string }
	type attribute struct {
		Key   string
		Value value
	}
	type span struct{ Attributes []attribute }
	type scope struct{ Spans []span }
	type resource struct{ ScopeSpans []scope }
	var line struct{ ResourceSpans []resource }
	for decoder := json.NewDecoder(in); decoder.More(); {
		line.ResourceSpans = nil
		if err := decoder.Decode(&line); err != nil {
			return 0, err
		}
		for _, rs := range line.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					for _, a := range s.Attributes {
						if a.Key == "weft.events.shed" {
							n, err := strconv.Atoi(a.Value.IntValue)
							if err != nil {
								return 0, err
							}
							sum += n
						}
					}
				}
			}
		}
	}
	return sum, nil
}
