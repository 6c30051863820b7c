// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
)

// input is an open recording.
type input struct {
	name     string
	format   recording.Format
	reader   io.Reader // of the recording, decompressed
	sidecar  func(extension string) (io.ReadCloser, error)
	seed     []byte // see formats.SessionID
	progress *progress
	unpacked *remembering // nil: not compressed
	free     func()
	gathered *replay.Gathered
	more     []replay.Source // see replay.Join
	stream   io.Closer       // nil: a regular file
}

func openInput(ctx context.Context, req *Request) (in *input, err error) {
	in = &input{name: req.In, progress: &progress{to: req.Progress}, free: func() {}}
	defer func() {
		if err != nil {
			in.close()
		}
	}()
	if req.In == "-" && req.Stdin == nil {
		return in, errors.New("standard input is closed; give the path of a recording")
	}
	in.gathered = replay.Gather(ctx, []string{req.In}, &replay.Options{Stdin: req.Stdin, MaxUnpacked: req.MaxUnpacked})
	source, err := in.gathered.One()
	if err != nil {
		return in, err
	}
	if err := in.open(ctx, source); err != nil {
		return in, fmt.Errorf("%s: %s", printable.Text(in.name), printable.Text(err.Error()))
	}
	return in, nil
}

// open opens the source.
func (in *input) open(ctx context.Context, source *replay.Source) (err error) {
	in.name, in.sidecar, in.more = source.Name, source.SideFiles(), source.More
	limit := formats.Limit{Bytes: source.MaxUnpacked, Option: replay.UnpackedOption}
	if file := source.File(); file != nil {
		in.progress.total = source.Size()
		from := &counted{File: file, ctx: ctx, progress: in.progress}
		in.seed = make([]byte, formats.SeedSize)
		n, err := file.ReadAt(in.seed, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		in.seed = in.seed[:n]
		in.format, in.reader, in.free, err = formats.Open(from, "", limit)
		in.remember(in.reader != io.Reader(from))
		return err
	}
	from := newStopping(ctx, source.Reader, in.progress)
	in.stream = from
	in.format, in.reader, in.seed, in.free, err = formats.OpenStream(from, "", limit)
	in.remember(true)
	return err
}

// remember keeps the errors of a reader that unpacks, or of a pipe: they concern the rest of the input only.
func (in *input) remember(yes bool) {
	if yes && in.reader != nil {
		in.unpacked = &remembering{Reader: in.reader}
		in.reader = in.unpacked
	}
}

// damage is why the rest of the input cannot be read; nil: it can.
func (in *input) damage() error {
	if in.unpacked == nil {
		return nil
	}
	return in.unpacked.err
}

func (in *input) close() {
	if in.free != nil {
		in.free()
	}
	if in.stream != nil {
		_ = in.stream.Close() // was only read
	}
	if in.gathered != nil {
		in.gathered.Close()
	}
}

type remembering struct {
	io.Reader

	err error // the first one other than io.EOF
}

func (r *remembering) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && r.err == nil {
		r.err = err
	}
	return n, err
}

// counted is a regular file of which reading ends with its context. Flight recordings are read at any place, others from the start.
type counted struct {
	replay.File

	ctx      context.Context //nolint:containedctx // readers do not pass one
	progress *progress
}

// pieceSize is the number of bytes of a file that are decoded between two looks at the context and the progress.
const pieceSize = 1 << 16

func (c *counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.File.Read(p[:min(len(p), pieceSize)])
	c.progress.at += int64(n)
	return n, err
}

// ReadAt implements io.ReaderAt.
func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.File.ReadAt(p, off)
	c.progress.at = off + int64(n)
	return n, err
}

// Seek implements io.Seeker.
func (c *counted) Seek(offset int64, whence int) (int64, error) {
	at, err := c.File.Seek(offset, whence)
	c.progress.at = at
	return at, err
}

// Size lets decoders find out that this is a regular file.
func (c *counted) Size() int64 { return c.progress.total }

// stopping is a stream of which reading ends with its context, although a read may wait for the other end of a pipe. That read then remains
// until the other end writes or closes, or the program ends.
type stopping struct {
	*io.PipeReader

	progress *progress
}

func newStopping(ctx context.Context, stream io.Reader, p *progress) *stopping {
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { _ = r.CloseWithError(ctx.Err()) }) // always nil
	go func() {
		_, err := io.Copy(w, stream)
		_ = w.CloseWithError(err) // always nil
	}()
	return &stopping{PipeReader: r, progress: p}
}

func (s *stopping) Read(p []byte) (int, error) {
	n, err := s.PipeReader.Read(p)
	s.progress.at += int64(n)
	return n, err
}

// progress reports how far the input was read.
type progress struct {
	to    func(done, total int64) // nil: not wanted
	total int64                   // bytes; 0: unknown
	at    int64
	done  int64 // reported
}

// steps is in how many steps the progress of a file is reported.
const steps = 200

// report reports the progress if it is a step further. The place may go back, where a decoder looks elsewhere; the progress does not.
func (p *progress) report() {
	step := max(p.total/steps, 1<<16)
	if p.to != nil && p.at-p.done >= step {
		p.done = p.at
		p.to(p.done, p.total)
	}
}

func (p *progress) finish() {
	if p.to == nil {
		return
	}
	if p.total > 0 {
		p.at = p.total
	}
	if p.at > p.done {
		p.to(p.at, p.total)
	}
}
