// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/cmd/weft/internal/summary"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
)

const summaryLong = `Shows where threads lose time. The first sentence names the cause: who held the lock, permit or
connection that threads waited for, and what it did meanwhile; or the deadlock. Then come the
hottest locks, the waits by kind, the longest run of handoffs of one lock, the threads that were
blocked most, and their longest waits.

FILE is traces as OTLP JSON, one object per line, as the file exporter writes them; or a recording:
a .jfr of JDK 11 or later, a file that an agent or weft record wrote, an ORCA log, a TPTP trace or
triples. Files may be compressed with gzip or zstd; - reads standard input.

Lines and parts of recordings that cannot be read are skipped and reported on standard error; the
exit code is then 1.`

const summaryExample = `  weft summary spans.json
  jcmd PID JFR.start duration=60s filename=shop.jfr settings=profile; weft summary shop.jfr
  weft summary now.weft --against release-41.weft     what got worse, and what got better
  weft summary --format json spans.json | jq '.headline, .locks[0]'`

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
	span     replay.Span
	unpacked int64 // bytes
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
	flags.Var((*instant)(&o.span.From), "from", "of recordings, only use events at or after this time\n(2026-11-21T16:50:00Z)")
	flags.Var((*instant)(&o.span.To), "to", "of recordings, only use events before this time")
	flags.StringVar(&o.against, "against", "", "compare the recording with this one, by what threads waited for and where")
	requests := flags.String("requests", "", "with --against, the number of requests before and now, such as 1000,1200:\ncompare the time per request, not per second")
	unpacked := flags.Int("max-unpacked", recording.DefaultMaxUnpacked>>30, "read at most this many gibibytes of a compressed file, decompressed")
	cmd.RunE = func(_ *cobra.Command, files []string) error {
		const most = 1 << 20 // a pebibyte
		switch o.format = *shown; {
		case o.top < 1:
			return usagef("invalid --top %d: want 1 or more", o.top)
		case *unpacked < 1 || *unpacked > most:
			return usagef("invalid --max-unpacked %d: want 1 to %d gibibytes", *unpacked, most)
		case !o.span.Valid():
			return usagef("--from %s must be before --to %s", o.span.From.Format(time.RFC3339Nano), o.span.To.Format(time.RFC3339Nano))
		}
		o.unpacked = int64(*unpacked) << 30
		if err := o.checkAgainst(*requests, files); err != nil {
			return err
		}
		tuneForReading()
		if o.against != "" {
			return p.compare(files[0], &o)
		}
		return p.summarize(files, &o)
	}
	return cmd
}

// summarize prints the summary of files.
func (p *Program) summarize(files []string, o *summaryOptions) error {
	sources, closeAll, openErr := p.open(files, o.span)
	defer closeAll()
	if len(sources) == 0 {
		return openErr
	}
	for i := range sources {
		sources[i].MaxUnpacked = o.unpacked
	}
	stop := p.line().Watch(func() (string, int64, int64) { return reading(sources) })
	s, readErr := summary.Read(sources...)
	stop()
	var err error
	if o.format == formatJSON {
		err = p.writeJSON(s)
	} else {
		err = s.WriteText(p.Out, o.top)
	}
	return errors.Join(err, openErr, readErr)
}

// instant is a point in time as the value of a flag.
type instant time.Time

func (t *instant) String() string {
	if at := time.Time(*t); !at.IsZero() {
		return at.Format(time.RFC3339Nano)
	}
	return ""
}

// Type is what help shows as the value.
func (*instant) Type() string { return "time" }

// Set accepts times as in RFC 3339.
func (t *instant) Set(text string) error {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return errors.New("want a time such as 2026-11-21T16:50:00Z")
	}
	*t = instant(at)
	return nil
}

// open opens the files; the error lists those that cannot be opened.
func (p *Program) open(files []string, span replay.Span) (sources []replay.Source, closeAll func(), err error) {
	var opened []io.Closer
	closeAll = func() {
		for _, f := range opened {
			_ = f.Close() // read only
		}
	}
	var errs []error
	for _, name := range files {
		if name == "-" {
			sources = append(sources, replay.Source{Name: "standard input", Reader: p.In, Span: span})
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			errs = append(errs, errors.New(printable.Text(err.Error())))
			continue
		}
		opened = append(opened, f)
		sources = append(sources, replay.Source{Name: name, Path: name, Reader: f, Span: span})
	}
	return sources, closeAll, errors.Join(errs...)
}

// reading says how much of the files was read, as far as they are read in sequence.
func reading(sources []replay.Source) (what string, done, total int64) {
	for _, source := range sources {
		file, ok := source.Reader.(*os.File)
		if !ok {
			continue
		}
		info, err := file.Stat()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		at, err := file.Seek(0, io.SeekCurrent)
		if err != nil {
			continue
		}
		done, total = done+at, total+info.Size()
		if at < info.Size() && what == "" {
			what = "reading " + printable.Text(source.Name)
		}
	}
	if what == "" {
		return "analyzing", 0, 0
	}
	return what, done, total
}
