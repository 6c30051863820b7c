// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package convert answers: how does a recording get into another format? It reads any recording and writes recordings, the spans of
// thread_span as OTLP JSON, or a trace for Perfetto.
//
// The file appears under its name when it is complete: an error or an interrupt leaves no part of it, and an existing file as it was.
package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
)

// Request says what to convert.
type Request struct {
	In  string // a path, or - for Stdin
	Out string // a path; its suffix selects the format, and a final .gz or .zst the compression
	// Format is the name of the format of Out in place of its suffix; see Formats.
	Format string
	// Session selects a session of the input: its number from 1, or the start of its ID. Empty: all of them, but a format that holds one
	// session refuses more.
	Session string
	// MaxUnpacked bounds the bytes that are read of a compressed or piped input, decompressed; 0: recording.DefaultMaxUnpacked.
	MaxUnpacked int64
	// Overwrite replaces files that exist.
	Overwrite bool
	// Progress is called now and then with how many bytes of the input are done, of total; total is 0 if that is unknown, as of a pipe.
	Progress func(done, total int64)
	Stdin    io.Reader // of In -
}

// Options of the command line, as errors name them.
const (
	optionForce   = "--force"
	optionFormat  = "--to"
	optionSession = "--session"
)

// Convert writes the input in another format. Input that cannot be read is skipped and is in the report, as is what the format cannot
// express; after an error, nothing was written.
func Convert(ctx context.Context, req Request) (Report, error) {
	return convert(ctx, &req, create)
}

func convert(ctx context.Context, req *Request, create creator) (_ Report, err error) {
	to, err := targetOf(req)
	if err != nil {
		return Report{}, err
	}
	in, err := openInput(ctx, req)
	if err != nil {
		return Report{}, err
	}
	defer in.close()
	out, err := newOutput(req, create)
	if err != nil {
		return Report{}, err
	}
	defer out.abort()
	j := &job{ctx: ctx, req: req, in: in, losses: recording.NewLosses(&to.carries), symbols: symbols.New(symbols.DefaultLimits())}
	j.writer, j.single = to.open(j, out), to.single
	j.report = Report{In: in.name, From: in.format.Name, To: to.name}
	if err := j.run(); err != nil {
		return Report{}, err
	}
	if j.report.Files, err = out.commit(); err != nil {
		return Report{}, fmt.Errorf("write %s: %w", printable.Text(req.Out), err)
	}
	in.progress.finish()
	return j.finish(), nil
}

// run reads the input to its end.
func (j *job) run() error {
	options := recording.Options{
		File: j.in.name, Symbols: j.symbols, Sidecar: j.in.sidecar, MaxProblems: maxProblems,
		MaxUnpacked: j.req.MaxUnpacked, UnpackedOption: replay.UnpackedOption,
	}
	decoder := j.in.format.New(options, recording.CompleteWaits(j))
	err := recording.Contain(j.in.name, decoder, func() error {
		_, err := io.Copy(decoder, j.in.reader)
		for i := 0; i < len(j.in.more) && err == nil; i++ {
			err = j.in.more[i].Follow(decoder)
		}
		return err
	})
	if errors.As(err, new(*failure.Panic)) {
		return err
	}
	if broken := j.in.damage(); err != nil && broken != nil && j.err == nil && j.ctx.Err() == nil { // what precedes the damage is good
		at := decoder.Stats().Bytes
		err = j.Problem(recording.Problem{File: j.in.name, Byte: at, What: broken.Error(), Remedy: "the data before is converted"})
		j.damaged = true
	}
	if err == nil {
		err = recording.Contain(j.in.name, decoder, decoder.Close)
	}
	stats := decoder.Stats()
	j.report.Lost, j.report.ProblemCount = stats.Lost, stats.Problems
	if j.damaged {
		j.report.ProblemCount++
	}
	switch {
	case j.ctx.Err() != nil:
		return context.Cause(j.ctx)
	case j.err != nil:
		return fmt.Errorf("write %s: %w", printable.Text(j.req.Out), j.err)
	case err != nil:
		return fmt.Errorf("read %s: %w", printable.Text(j.in.name), err)
	}
	if err := j.choice(); err != nil {
		return err
	}
	if err := j.writer.close(nil); err != nil {
		return fmt.Errorf("write %s: %w", printable.Text(j.req.Out), err)
	}
	return nil
}

// maxProblems bounds the problems of a report; the rest is counted.
const maxProblems = 10

// Formats are the names that Request.Format takes.
func Formats() (names []string) {
	all := targets()
	for i := range all {
		names = append(names, all[i].name)
	}
	return names
}

// errNoEvents means that the input is a recording without a session.
var errNoEvents = errors.New("the recording contains no events")

// choice reports that the input does not have the sessions that the request needs.
func (j *job) choice() error {
	switch n := j.written; {
	case n == 0 && j.seen == 0 && len(j.report.Problems) > 0:
		return errors.New(j.report.Problems[0])
	case n == 0 && j.seen == 0:
		return fmt.Errorf("%s: %w", printable.Text(j.in.name), errNoEvents)
	case n == 0:
		return fmt.Errorf("%s has no session %q: it has %s", printable.Text(j.in.name), j.req.Session, j.sessionList())
	case n > 1 && j.single:
		return fmt.Errorf("%s has several sessions, and a file in format %s holds one: select one with %s NUMBER (%s), or write format native",
			printable.Text(j.in.name), j.report.To, optionSession, j.sessionList())
	}
	return nil
}

// sessionList lists the sessions of the input.
func (j *job) sessionList() string {
	list := slices.Clone(j.sessions)
	if more := j.seen - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return joined(list)
}

// formatOf returns the format with a name, and the writable ones if there is none.
func formatOf(name string) (*target, error) {
	all := targets()
	if i := slices.IndexFunc(all, func(t target) bool { return t.name == name }); i >= 0 {
		return &all[i], nil
	}
	if _, err := formats.Find(name); err == nil {
		return nil, fmt.Errorf("format %s can only be read: want one of %s", name, joined(Formats()))
	}
	return nil, fmt.Errorf("unknown format %q: want one of %s", name, joined(Formats()))
}

// targetOf returns the format of the output.
func targetOf(req *Request) (*target, error) {
	if req.Out == "-" || req.Out == "" {
		return nil, errors.New("the output must be a file: its name selects the format")
	}
	if req.Format != "" {
		return formatOf(req.Format)
	}
	all := targets()
	plain, _ := formats.CutCompression(req.Out)
	for i := range all {
		if all[i].matches(plain) {
			return &all[i], nil
		}
	}
	var suffixes []string
	for i := range all {
		suffixes = append(suffixes, all[i].suffixes...)
	}
	return nil, fmt.Errorf("%s: unknown suffix; use one of %s, or %s", cmp.Or(printable.Text(req.Out), "-"), joined(suffixes), optionFormat)
}
