// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

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
	file     *os.File  // nil: the standard input
	stream   io.Closer // nil: a regular file
}

func openInput(ctx context.Context, req *Request) (in *input, err error) {
	in = &input{name: "standard input", progress: &progress{to: req.Progress}, free: func() {}}
	defer func() {
		if err != nil {
			in.close()
			err = fmt.Errorf("%s: %s", printable.Text(in.name), printable.Text(err.Error()))
		}
	}()
	limit := formats.Limit{Bytes: req.MaxUnpacked, Option: optionUnpacked}
	file, _ := req.Stdin.(*os.File)
	if req.In != "-" {
		in.name, in.sidecar = req.In, formats.Sidecar(req.In)
		if in.file, err = os.Open(req.In); err != nil {
			return in, reason(err)
		}
		file = in.file
	} else if req.Stdin == nil {
		return in, errors.New("there is none")
	}
	if info := regular(file); info != nil {
		in.progress.total = info.Size()
		from := &counted{file: file, ctx: ctx, progress: in.progress}
		if in.seed, err = seedOf(file); err != nil {
			return in, reason(err)
		}
		in.format, in.reader, in.free, err = formats.Open(from, "", limit)
		in.remember(in.reader != io.Reader(from))
		return in, err
	}
	var stream io.Reader = file
	if file == nil {
		stream = req.Stdin
	}
	from := newStopping(ctx, stream, in.progress)
	in.stream = from
	in.format, in.reader, in.seed, in.free, err = formats.OpenStream(from, "", limit)
	in.remember(true)
	return in, err
}

// reason returns an error without the path, which the caller adds.
func reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// regular describes a file that can be read at any place, from its start; nil: it cannot.
func regular(file *os.File) fs.FileInfo {
	if file == nil {
		return nil
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if at, err := file.Seek(0, io.SeekCurrent); err != nil || at != 0 {
		return nil
	}
	return info
}

func seedOf(file io.ReaderAt) ([]byte, error) {
	seed := make([]byte, formats.SeedSize)
	n, err := file.ReadAt(seed, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return seed[:n], nil
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
	if in.file != nil {
		_ = in.file.Close() // the same
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
	file     *os.File
	ctx      context.Context //nolint:containedctx // readers do not pass one
	progress *progress
}

// pieceSize is the number of bytes of a file that are decoded between two looks at the context and the progress.
const pieceSize = 1 << 16

func (c *counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.file.Read(p[:min(len(p), pieceSize)])
	c.progress.at += int64(n)
	return n, err
}

// ReadAt implements io.ReaderAt.
func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.file.ReadAt(p, off)
	c.progress.at = off + int64(n)
	return n, err
}

// Seek implements io.Seeker.
func (c *counted) Seek(offset int64, whence int) (int64, error) {
	at, err := c.file.Seek(offset, whence)
	c.progress.at = at
	return at, err
}

// Stat lets decoders find out that this is a regular file.
func (c *counted) Stat() (fs.FileInfo, error) { return c.file.Stat() }

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
