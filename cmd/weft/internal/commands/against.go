// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/weft-otel/weft/cmd/weft/internal/against"
	"github.com/weft-otel/weft/cmd/weft/internal/profiles"
	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/compare"
)

// checkAgainst reports flags of a comparison that cannot work.
func (o *summaryOptions) checkAgainst(requests string, files []string) error {
	switch {
	case o.against == "" && requests != "":
		return usagef("--requests needs --against")
	case o.against != "" && len(files) > 1:
		return usagef("--against compares one recording with another one, and %d are given", len(files))
	case o.against == "-" && files[0] == "-":
		return usagef("standard input cannot be both recordings")
	case requests == "":
		return nil
	}
	before, now, _ := strings.Cut(requests, ",")
	for i, text := range []string{before, now} {
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil || n == 0 {
			return usagef("invalid --requests %q: want two numbers above zero, such as 1000,1200", requests)
		}
		o.requests[i] = n
	}
	return nil
}

// compare prints what changed between two recordings.
func (p *Program) compare(ctx context.Context, file string, o *summaryOptions) error {
	var runs [2]*compare.Run
	var errs []error
	for i, name := range []string{o.against, file} {
		run, err := p.waits(ctx, name, o)
		if run == nil {
			return err
		}
		run.Requests = o.requests[i]
		runs[i], errs = run, append(errs, err)
	}
	if runs[0].Length == 0 && runs[1].Length == 0 {
		return errors.Join(errs...)
	}
	c := compare.Runs(runs[0], runs[1])
	if o.format == formatJSON {
		return errors.Join(append(errs, p.writeJSON(c))...)
	}
	return errors.Join(append(errs, against.WriteText(p.Out, c, o.top))...)
}

// waits reads what threads waited for in a recording. With an error, it returns what came before the error; nil: nothing was read.
func (p *Program) waits(ctx context.Context, name string, o *summaryOptions) (*compare.Run, error) {
	g := replay.Gather(ctx, []string{name}, &replay.Options{Stdin: p.In, MaxUnpacked: o.unpacked})
	defer g.Close()
	p.note(g.Notes...)
	source, err := g.One()
	if source == nil {
		return nil, err
	}
	stop := p.line().Watch(func() (string, int64, int64) { return reading([]replay.Source{*source}) })
	defer stop()
	run, readErr := profiles.Waits(*source)
	return run, errors.Join(err, readErr)
}
