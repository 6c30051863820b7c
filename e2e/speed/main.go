// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Command speed measures the CPU time and the memory of a collector under simulated JVMs, next to the Collector's own components under as
// many spans. The collector is a process of its own; its load is marshalled before. The output is a table in Markdown.
//
//	make build-full && go run ./e2e/speed -rounds 3 -events 500000 -only 'otlp → nop|stream → nop'
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	program        string
	rounds, events int
	only           *regexp.Regexp
	paced          time.Duration // zero: as the row says
	shape          shape
}

func main() {
	o := options{shape: aJVM()}
	flag.StringVar(&o.program, "collector", "build/weft-collector-full", "the collector to measure")
	flag.IntVar(&o.rounds, "rounds", 5, "how often each row is measured; the table has medians")
	flag.IntVar(&o.events, "events", 2_000_000, "events of a row")
	flag.IntVar(&o.shape.threads, "threads", o.shape.threads, "threads of the JVM, but for rows with a number of their own")
	flag.IntVar(&o.shape.locks, "locks", o.shape.locks, "its locks")
	flag.IntVar(&o.shape.classes, "classes", o.shape.classes, "its classes of locks")
	flag.DurationVar(&o.shape.batch, "batch", o.shape.batch, "simulated time of a batch")
	flag.DurationVar(&o.paced, "paced", 0, "length of the rows that send events at their rate (default 30s, or 2m to fill the page)")
	only := flag.String("only", "", "rows to measure, as a regular expression")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if o.only, err = regexp.Compile(*only); err == nil {
		err = run(ctx, &o)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

// run measures the rows. A round measures each of them once, so that other load on the machine affects all of them.
func run(ctx context.Context, o *options) error {
	chosen := choose(o)
	samples := make(map[string][]sample)
	for n := range o.rounds {
		for i := range chosen {
			r, start := &chosen[i], time.Now()
			if n > 0 && r.paced > 0 {
				continue
			}
			u, events, err := r.measure(ctx, o.program)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, cmp.Or(ctx.Err(), err))
			}
			samples[r.name] = append(samples[r.name], sample{u, events})
			fmt.Fprintf(os.Stderr, "round %d: %s: %.0f ns, %d events in %v, load %s\n", n+1, r.name, sample{u, events}.ns(), events, took(start), busy())
		}
	}
	printTable(os.Stdout, chosen, samples)
	return nil
}

// choose returns the rows that the command line asks for, and their anchors.
func choose(o *options) (chosen []row) {
	all, needed := rows(), make(map[string]bool)
	for i := range all {
		if r := &all[i]; o.only.MatchString(r.name) {
			needed[r.name], needed[r.anchor] = true, true
		}
	}
	for i := range all {
		if r := &all[i]; needed[r.name] {
			r.complete(o)
			chosen = append(chosen, *r)
		}
	}
	return chosen
}

// complete fills in what the row leaves to the command line.
func (r *row) complete(o *options) {
	if r.shape == (shape{}) {
		r.shape = o.shape
	}
	r.jvms, r.events = cmp.Or(r.jvms, 1), cmp.Or(r.events, o.events)
	if r.paced > 0 {
		r.paced = cmp.Or(o.paced, r.paced)
		r.events = r.jvms * int(float64(r.shape.rate)*r.paced.Seconds())
	}
}
