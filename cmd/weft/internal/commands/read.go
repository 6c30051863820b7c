// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-otel/weft/cmd/weft/internal/local"
	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
)

// readOptions are common to the commands that read recordings into a page.
type readOptions struct {
	format   string // empty: what the content shows
	history  int64  // bytes; 0: defaultHistory
	unpacked int64  // bytes; 0: recording.DefaultMaxUnpacked
	// aggregate is as in local.PageOptions.
	aggregate func(*replay.Session, *jvmthread.Aggregate)
}

// newPage returns a page for recordings.
func (p *Program) newPage(o *readOptions) (*local.Page, error) {
	if o.history == 0 {
		o.history = defaultHistory
	}
	return local.NewPage(&local.PageOptions{Version: p.Version, MaxBytes: o.history, Window: time.Second, Logger: p.logger(), Aggregate: o.aggregate})
}

// readAll reads recordings to their ends into a page, which the caller closes. With an error, the page shows what could be read; it is nil if that
// is nothing.
func (p *Program) readAll(ctx context.Context, files []string, o *readOptions) (*local.Page, error) {
	view, err := p.newPage(o)
	if err != nil {
		return nil, err
	}
	if err = p.readInto(ctx, view, files, o); ctx.Err() == nil && view.Sessions() > 0 {
		return view, err
	}
	view.Close(context.WithoutCancel(ctx))
	if err == nil {
		err = errNoEvents
	}
	return nil, err
}

var errNoEvents = errors.New("the file contains no events of a JVM; record some with weft record PID, or jcmd PID JFR.start settings=profile")

// readInto adds recordings to a page. The error lists what cannot be read.
func (p *Program) readInto(ctx context.Context, view *local.Page, files []string, o *readOptions) error {
	g := replay.Gather(ctx, files, &replay.Options{Stdin: p.In, Format: o.format, MaxUnpacked: cmp.Or(o.unpacked, recording.DefaultMaxUnpacked)})
	defer g.Close()
	defer context.AfterFunc(ctx, g.Close)() // ends a read that waits for the other end of a pipe
	p.note(g.Notes...)
	stop := p.line().Watch(func() (string, int64, int64) { return reading(g.Sources) })
	defer stop()
	joined, reads, err := replay.Join(g.Sources), new(replay.Reads), g.Err
	for i := range joined {
		joined[i].Reads = reads
		err = errors.Join(err, view.Read(ctx, joined[i]))
	}
	stop()
	for _, name := range reads.Repeated() {
		p.note(name + " repeats what other files have: that counts once")
	}
	return err
}

func (p *Program) note(notes ...string) {
	for _, note := range notes {
		fmt.Fprintf(p.Err, "weft: %s\n", printable.Text(note))
	}
}

// reading says how much of the files was read, as far as they are read in sequence.
func reading(sources []replay.Source) (what string, done, total int64) {
	for i := range sources {
		source := &sources[i]
		at, size, ok := source.Progress()
		if !ok {
			continue
		}
		done, total = done+at, total+size
		if at < size && what == "" {
			what = "reading " + printable.Text(source.Name)
		}
	}
	if what == "" {
		return "analyzing", 0, 0
	}
	return what, done, total
}
