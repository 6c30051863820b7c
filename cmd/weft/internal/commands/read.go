// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
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

var errNoEvents = errors.New("the file contains no events of a JVM")

// readInto adds recordings to a page. The error lists what cannot be read.
func (p *Program) readInto(ctx context.Context, view *local.Page, files []string, o *readOptions) error {
	sources, closeAll, err := p.open(files, replay.Span{})
	defer closeAll()
	defer context.AfterFunc(ctx, closeAll)() // ends a read that waits for the other end of a pipe
	stop := p.line().Watch(func() (string, int64, int64) { return reading(sources) })
	defer stop()
	for i := range sources {
		sources[i].Format, sources[i].MaxUnpacked = o.format, cmp.Or(o.unpacked, recording.DefaultMaxUnpacked)
	}
	joined := replay.Join(sources)
	for i := range joined {
		err = errors.Join(err, view.Read(ctx, joined[i]))
	}
	return err
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
	for i := range sources {
		source := &sources[i]
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
