// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Command speed measures what Weft costs, next to its peers in the same run: it interleaves the rounds of all rows, takes CPU time from the
// process that is judged, and prints medians as one table. results.txt has the last one; docs/performance.md sums it up.
//
//	make build-full && go run ./bench/speed -sections collector -rounds 3 -events 500000 -only 'stream → nop'
//	go run ./bench/speed -sections collector -collector build/before,build/after
//
// The sections:
//
//   - collector: anchors are the OTLP receiver with 1,000 spans a request; streams are a JVM with 50 threads and 50 locks, batches of 100 ms, as
//     fast as the collector acknowledges; configurations have nop instead of a trace store; 70,000 events/s for two minutes; 1,000 JVMs of 10
//     threads for 30 s. -only PATTERN chooses rows.
//   - parts: Go benchmarks next to plain spans, span_metrics, encoding/xml, and with CRISP=FOLDER that program on 100,000 spans
//   - disk: storage of a recording, and in Jaeger
//   - jfr: weft summary, next to jfr print --json and to JMC's loader
//   - agent: hello world; loops that wait
//   - programs: third-party programs with eight busy clients
//   - virtual: 10,000 requests at once; the resident set with 100,000 and 10,000 parked threads
//   - look: weft top next to the JVM
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/weft-otel/weft/bench/load"
)

// options are the flags.
type options struct {
	programs       []string // collectors
	rounds, events int
	paced          time.Duration // zero: as the row says
	only           *regexp.Regexp
	shape          load.Shape
	dir            string // temporary folder
}

// section is a group of rows. A round measures each of its rows once.
type section interface {
	// begin prepares everything that is not measured.
	begin(ctx context.Context, o *options) error
	round(ctx context.Context) error
	rows() []line
}

func sections() map[string]section {
	return map[string]section{"collector": &collectors{}, "parts": &partsSection{}, "jfr": &recordings{}, "disk": &disks{}, "agent": &agents{}, "programs": &programsSection{}, "virtual": &virtuals{}, "look": &looks{}}
}

func main() {
	o := &options{shape: load.JVM()}
	all := slices.Sorted(maps.Keys(sections()))
	chosen := flag.String("sections", strings.Join(all, ","), "groups of rows")
	programs := flag.String("collector", "build/weft-collector-full", "the collector to measure; FIRST,SECOND compares two of them")
	flag.IntVar(&o.rounds, "rounds", 5, "how often each row is measured")
	flag.IntVar(&o.events, "events", 2_000_000, "events of a row")
	flag.IntVar(&o.shape.Threads, "threads", o.shape.Threads, "threads of the JVM, but for rows with a number of their own")
	flag.IntVar(&o.shape.Locks, "locks", o.shape.Locks, "its locks")
	flag.IntVar(&o.shape.Classes, "classes", o.shape.Classes, "its classes of locks")
	flag.DurationVar(&o.shape.Batch, "batch", o.shape.Batch, "simulated time of a batch")
	flag.DurationVar(&o.paced, "paced", 0, "length of the rows that send events at their rate (default 30s, or 2m to fill the page)")
	only := flag.String("only", "", "rows of a collector to measure, as a regular expression")
	write := flag.String("write", "", "write the table into this file, too")
	flag.Parse()
	o.programs = strings.Split(*programs, ",")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if o.only, err = regexp.Compile(*only); err == nil {
		err = run(ctx, o, strings.Split(*chosen, ","), *write)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

// run measures the sections. Rounds interleave them, so that other load on the machine affects all rows.
func run(ctx context.Context, o *options, names []string, file string) (err error) {
	if o.dir, err = os.MkdirTemp("", "weft-speed-"); err != nil {
		return err
	}
	defer os.RemoveAll(o.dir) //nolint:errcheck // a temporary folder
	var chosen []section
	for _, name := range names {
		s, ok := sections()[name]
		if !ok {
			return fmt.Errorf("unknown section %q", name)
		}
		if err := s.begin(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", name, cmp.Or(ctx.Err(), err))
		}
		chosen = append(chosen, s)
	}
	for n := range o.rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", n+1, o.rounds)
		for i, s := range chosen {
			if err := s.round(ctx); err != nil {
				return fmt.Errorf("%s: %w", names[i], cmp.Or(ctx.Err(), err))
			}
		}
	}
	var table []line
	for _, s := range chosen {
		table = append(table, s.rows()...)
	}
	text := render(table, o.rounds)
	fmt.Print(text)
	if file != "" {
		return os.WriteFile(file, []byte(text), 0o644)
	}
	return nil
}
