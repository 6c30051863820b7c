// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/weft-otel/weft/internal/printable"
)

// jaeger is a Jaeger that keeps traces in memory.
type jaeger struct {
	program *program
	query   string // address of its query API and page
	otlp    string
}

func startJaeger(ctx context.Context, p *programs, dir string) (*jaeger, error) {
	if _, err := os.Stat("build/jaeger"); err != nil {
		return nil, errors.New("build/jaeger is missing: run make build/jaeger")
	}
	j := &jaeger{}
	var health, grpc, http string
	for _, address := range []*string{&j.query, &j.otlp, &health, &grpc, &http} {
		var err error
		if *address, err = freeAddress(); err != nil {
			return nil, err
		}
	}
	var err error
	j.program, err = p.start([]string{
		"OTEL_TRACES_SAMPLER=always_off", "JAEGER_QUERY_HTTP=" + j.query, "JAEGER_QUERY_GRPC=" + grpc, "JAEGER_HEALTH=" + health,
		"JAEGER_OTLP_GRPC=" + j.otlp, "JAEGER_OTLP_HTTP=" + http,
	}, filepath.Join(dir, "jaeger.log"), "build/jaeger", "--config", "e2e/testdata/jaeger.yaml")
	if err != nil {
		return nil, err
	}
	return j, j.program.ready(ctx, "http://"+health+"/status")
}

// trace is a trace in the form of Jaeger's query API.
type trace struct {
	TraceID string `json:"traceID"`
	Spans   []span `json:"spans"`
}

type span struct {
	OperationName string `json:"operationName"`
	Tags          []struct {
		Key   string `json:"key"`
		Value any    `json:"value"`
	} `json:"tags"`
}

func (s span) tag(key string) any {
	for _, tag := range s.Tags {
		if tag.Key == key {
			return tag.Value
		}
	}
	return nil
}

func (s span) time(key string) time.Duration {
	ns, _ := s.tag(key).(float64)
	return time.Duration(ns)
}

// show prints the address of the trace with the most blocked time and its longest blocked span, and leaves Jaeger running for the user.
func (j *jaeger) show(ctx context.Context) error {
	traces, err := j.traces(ctx)
	if err != nil {
		return err
	}
	var (
		best    trace
		longest span
		most    time.Duration
	)
	for _, t := range traces {
		for _, s := range t.Spans {
			if blocked := s.time("weft.time.blocked"); s.tag("weft.window.cut") != nil && blocked >= most {
				best, most = t, blocked
			}
		}
	}
	for _, s := range best.Spans {
		if s.tag("weft.state") == "blocked" && s.time("weft.interval.time") > longest.time("weft.interval.time") {
			longest = s
		}
	}
	if best.TraceID == "" {
		return fmt.Errorf("no trace of %s in Jaeger\n%s", service, j.program.tail())
	}
	fmt.Printf("\nJaeger has %d traces; the one with the most blocked time, %v in total:\n\n  http://%s/trace/%s\n\n",
		len(traces), most.Round(time.Millisecond), j.query, best.TraceID)
	if longest.OperationName != "" {
		fmt.Println(printable.Text(fmt.Sprintf("See its longest span %s: %v, for %v,", longest.OperationName, longest.tag("thread.name"),
			longest.time("weft.interval.time").Round(time.Millisecond/10))))
		fmt.Println("  " + printable.Text(fmt.Sprintf("in %v:", longest.tag("code.function.name"))))
		fmt.Println("  " + printable.Text(fmt.Sprintf("%v.", longest.tag("weft.explanation"))))
	}
	fmt.Printf(`
This Jaeger was built from its Go module, which holds everything but the page: the address above answers
under /api/traces/... . To look at the page, send the spans to a released Jaeger, with JAEGER_ENDPOINT and
config/jaeger.yaml.
`)
	if os.Getenv("DEMO_ONCE") != "" {
		return nil
	}
	fmt.Println("\nPress Ctrl-C to stop Jaeger.")
	select {
	case <-ctx.Done():
		return nil
	case err := <-j.program.ended:
		j.program.done = true
		return fmt.Errorf("build/jaeger ended: %w\n%s", err, j.program.tail())
	}
}

// traces requests all traces of the exchange.
func (j *jaeger) traces(ctx context.Context) ([]trace, error) {
	url := "http://" + j.query + "/api/traces?limit=1000&lookback=1h&service=" + service
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	var answer struct {
		Data []trace `json:"data"`
	}
	return answer.Data, json.NewDecoder(response.Body).Decode(&answer)
}
