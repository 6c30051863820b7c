// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"cmp"
	"context"
	"errors"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/weft-otel/weft/cmd/weft/internal/summary"
	"github.com/weft-otel/weft/internal/page"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/why"
)

const summaryLong = `Shows where threads lose time. The first sentence names the cause: who held the lock, permit or
connection that threads waited for, and what it did meanwhile; or the deadlock. Then come the
hottest locks, the waits by kind, the longest run of handoffs of one lock, the threads that were
blocked most, and their longest waits.

FILE is traces as OTLP JSON, one object per line, as the file exporter writes them; or a recording:
a .jfr of JDK 11 or later, a file that an agent or weft record wrote, an ORCA log, a TPTP trace or
triples; or thread dumps of jstack, jcmd Thread.print or kill -3, also in the log of an application.
Several dumps of a JVM, in one file or in several, show what did not move between them. Files may be
compressed, or in a folder or archive (zip, tar); - reads standard input.

Lines and parts of recordings that cannot be read are skipped and reported on standard error; the
exit code is then 1.`

const summaryExample = `  weft summary spans.json
  jcmd PID JFR.start duration=60s filename=shop.jfr settings=profile; weft summary shop.jfr
  jstack PID | weft summary -
  weft summary dump1.txt dump2.txt dump3.txt           three dumps, some seconds apart
  weft summary now.weft --against release-41.weft     what got worse, and what got better
  weft summary --format json spans.json | jq '.sessions[] | .headline, .answer.costs[0]'`

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

// summaryOptions are the flags of a summary.
type summaryOptions struct {
	top      int
	format   format
	from, to string // as of why.Range
	unpacked int64  // bytes
	against  string
	requests [2]uint64 // before and now; 0: not given
}

func (p *Program) summary() *cobra.Command {
	o := summaryOptions{unpacked: recording.DefaultMaxUnpacked}
	cmd := &cobra.Command{
		Use: "summary [flags] FILE...", Short: "Print where threads lost time", Long: summaryLong, Example: summaryExample,
		Args: needsOne("no file given: want traces such as spans.json, a recording, or - for standard input"),
	}
	flags := cmd.Flags()
	flags.IntVar(&o.top, "top", 10, "show at most this many rows per table")
	shown := formatFlag(flags, "tables for people, or all data for programs, with durations in\nnanoseconds")
	flags.StringVar(&o.from, "from", "", "start of the time to sum up: an offset such as 12.5s, or -30s from the\nend, or a time (default: that of the recording)")
	flags.StringVar(&o.to, "to", "", "end of the time to sum up (default: that of the recording)")
	flags.StringVar(&o.against, "against", "", "compare the recording with this one, by what threads waited for and where")
	requests := flags.String("requests", "", "with --against, the number of requests before and now, such as 1000,1200:\ncompare the time per request, not per second")
	unpacked := flags.Int("max-unpacked", recording.DefaultMaxUnpacked>>30, "read at most this many gibibytes of a compressed file, decompressed")
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		const most = 1 << 20 // a pebibyte
		switch o.format = *shown; {
		case o.top < 1:
			return usagef("invalid --top %d: want 1 or more", o.top)
		case *unpacked < 1 || *unpacked > most:
			return usagef("invalid --max-unpacked %d: want 1 to %d gibibytes", *unpacked, most)
		case o.against != "" && (o.from != "" || o.to != ""):
			return usagef("--against compares whole recordings: leave out --from and --to")
		}
		if err := why.CheckTimes(o.from, o.to); err != nil {
			return usageError{err}
		}
		o.unpacked = int64(*unpacked) << 30
		if err := o.checkAgainst(*requests, files); err != nil {
			return err
		}
		tuneForReading()
		if o.against != "" {
			return p.compare(cmd.Context(), files[0], &o)
		}
		return p.summarize(cmd.Context(), files, &o)
	}
	return cmd
}

// summarize prints the summary of files. It does not end with a signal that ended what the files record.
func (p *Program) summarize(ctx context.Context, files []string, o *summaryOptions) error {
	ctx = context.WithoutCancel(ctx)
	var aggregates summary.Aggregates
	view, problems := p.readAll(ctx, files, &readOptions{unpacked: o.unpacked, aggregate: aggregates.Add})
	if view == nil {
		return problems
	}
	defer view.Close(ctx)
	s, err := summary.Ask(ctx, page.Of(view.Handler()), &summary.Options{From: o.from, To: o.to, Top: o.top})
	if bad := (summary.BadRange{}); errors.As(err, &bad) {
		err = usageError{err}
	}
	if err != nil {
		return errors.Join(err, problems)
	}
	s.AddAggregates(&aggregates)
	if !s.Lasts() {
		return cmp.Or(problems, errMoment)
	}
	if o.format == formatJSON {
		err = p.writeJSON(s)
	} else {
		err = s.WriteText(p.Out, o.top)
	}
	return errors.Join(err, problems)
}
