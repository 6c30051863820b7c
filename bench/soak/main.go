// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Command soak runs a collector under load for a long time and compares what it does with its goals. The agents are simulated; all traffic
// stays on this machine. results.txt has the last table.
//
//	make build && go run ./bench/soak -only '1,000 agents' -scale 0.1
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	program string  // the collector
	agent   string  // the agent's library
	scale   float64 // of all times
	verbose bool

	before, env []string // of the collector's command
}

// row is a line of the table.
type row struct {
	what, goal, figure string
	met                bool
}

// trial is a load and what must be true of it.
type trial struct {
	name string
	run  func(ctx context.Context, o *options) ([]row, error)
}

func trials() []trial {
	return []trial{
		{"1,000 agents", thousandAgents},
		{"overload", overload},
		{"starved", starved},
		{"page", pageInUse},
		{"budget", littleMemory},
		{"steady", steady},
	}
}

func main() {
	o := &options{}
	flag.StringVar(&o.program, "collector", "build/weft-collector", "the collector")
	flag.StringVar(&o.agent, "agent", "build/libweft.so", "the agent")
	flag.Float64Var(&o.scale, "scale", 1, "scale of all times; 1 takes about 40 minutes")
	flag.BoolVar(&o.verbose, "v", false, "print the collector's warnings")
	only := flag.String("only", "", "trials to run, as a regular expression")
	write := flag.String("write", "", "write the table into this file, too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, *only, *write)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

var errMissed = errors.New("a goal was not met")

func run(ctx context.Context, o *options, only, file string) error {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s; %d processors, %s.\n\n", time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.Version())
	text.WriteString("| load | goal | figure | met |\n| --- | --- | --- | --- |\n")
	missed := false
	for _, t := range trials() {
		if !chosen.MatchString(t.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, t.name)
		rows, err := t.run(ctx, o)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, cmp.Or(ctx.Err(), err))
		}
		for _, r := range rows {
			missed = missed || !r.met
			fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", r.what, r.goal, r.figure, map[bool]string{true: "yes", false: "**no**"}[r.met])
		}
	}
	fmt.Print(text.String())
	if file != "" {
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil { //nolint:gosec // a file of the repository
			return err
		}
	}
	if missed {
		return errMissed
	}
	return nil
}

// lasting scales a time.
func (o *options) lasting(d time.Duration) time.Duration { return time.Duration(float64(d) * o.scale) }
