// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/weft-otel/weft/cmd/weft/internal/summary"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
)

const summaryUsage = `weft summary [--top N] [--format text|json] [--from TIME] [--to TIME]
             [--max-unpacked GIB] FILE...

Shows where threads lose time. The first sentence names the cause: who held the lock, permit or
connection that threads waited for, and what it did meanwhile; or the deadlock. Then come the
hottest locks, the waits by kind, the longest run of handoffs of one lock, the threads that were
blocked most, and their longest waits.

  FILE            traces as OTLP JSON, one object per line, as the file exporter writes them; or a
                  recording: a .jfr of JDK 11 or later, a file that an agent wrote with file=PATH,
                  an ORCA log, a TPTP trace or triples. Files may be compressed with gzip or zstd;
                  - reads standard input
  --top N         show at most N rows per table (default 10)
  --format text   tables for people (default)
  --format json   all data, for programs; durations are integers in nanoseconds
  --from TIME     of recordings, only use events at or after TIME (2026-11-21T16:50:00Z)
  --to TIME       of recordings, only use events before TIME; of a native recording, the rest is
                  not even read
  --max-unpacked GIB
                  read at most GIB gibibytes of a compressed file, decompressed (default 4)

Lines and parts of recordings that cannot be read are skipped and reported on standard error; the
exit code is then 1.

Examples:
  weft summary spans.json
  jcmd <pid> JFR.start duration=60s filename=shop.jfr settings=profile; weft summary shop.jfr
  weft summary --format json spans.json | jq '.headline, .locks[0]'
`

// tuneForReading adapts Go's runtime to a program that reads a recording from its start to its end, unless the user has set GOMAXPROCS or GOGC.
// A second processor would only collect garbage, and interrupt the first one for that: 1.5 times the CPU time, and no earlier result.
// Collecting a little more often costs nothing measurable and saves a tenth of the memory.
func tuneForReading() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(75)
	}
}

// maxUnpackedGiB is the upper limit of --max-unpacked: a pebibyte.
const maxUnpackedGiB = 1 << 20

func runSummary(args []string, stdin io.Reader, stdout io.Writer) error {
	tuneForReading()
	flags := flag.NewFlagSet("summary", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	top := flags.Int("top", 10, "")
	format := flags.String("format", "text", "")
	var span summary.Span
	flags.Func("from", "", parseTime(&span.From))
	flags.Func("to", "", parseTime(&span.To))
	unpacked := flags.Int("max-unpacked", recording.DefaultMaxUnpacked>>30, "")
	files, err := parse(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err = io.WriteString(stdout, summaryUsage)
		return err
	case err != nil:
		return usagef("summary: %v", err)
	case *top < 1:
		return usagef("summary: invalid --top %d: want 1 or more", *top)
	case *unpacked < 1 || *unpacked > maxUnpackedGiB:
		return usagef("summary: invalid --max-unpacked %d: want 1 to %d gibibytes", *unpacked, maxUnpackedGiB)
	case *format != "text" && *format != "json":
		return usagef("summary: invalid --format %q: want text or json", *format)
	case !span.Valid():
		return usagef("summary: --from %s must be before --to %s", span.From.Format(time.RFC3339Nano), span.To.Format(time.RFC3339Nano))
	case len(files) == 0:
		return usagef("summary: no file given: want traces such as spans.json, a recording, or - for standard input")
	}

	traces, closeAll, openErr := open(files, stdin, span)
	defer closeAll()
	if len(traces) == 0 {
		return openErr
	}
	for i := range traces {
		traces[i].MaxUnpacked = int64(*unpacked) << 30
	}
	s, readErr := summary.Read(traces...)
	if *format == "json" {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(s)
	} else {
		err = s.WriteText(stdout, *top)
	}
	return errors.Join(err, openErr, readErr)
}

func parseTime(t *time.Time) func(string) error {
	return func(text string) (err error) {
		if *t, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return errors.New("want a time such as 2026-11-21T16:50:00Z")
		}
		return nil
	}
}

// parse accepts flags and arguments in any order.
func parse(flags *flag.FlagSet, args []string) (words []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		args = flags.Args()
		if len(args) == 0 {
			return words, nil
		}
		words, args = append(words, args[0]), args[1:]
	}
}

// open opens the files; the error lists those that cannot be opened.
func open(files []string, stdin io.Reader, span summary.Span) (sources []summary.Source, closeAll func(), err error) {
	var opened []io.Closer
	closeAll = func() {
		for _, f := range opened {
			_ = f.Close() // read only
		}
	}
	var errs []error
	for _, name := range files {
		if name == "-" {
			sources = append(sources, summary.Source{Name: "standard input", Reader: stdin, Span: span})
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			errs = append(errs, fmt.Errorf("summary: %s", printable.Text(err.Error())))
			continue
		}
		opened = append(opened, f)
		sources = append(sources, summary.Source{Name: name, Path: name, Reader: f, Span: span})
	}
	return sources, closeAll, errors.Join(errs...)
}
