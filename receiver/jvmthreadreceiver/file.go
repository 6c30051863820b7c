// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
)

// recordingFile is a file that is read, by a goroutine of its own.
type recordingFile struct {
	files   *files
	path    string
	log     *zap.Logger
	file    *os.File
	replay  *replay
	decoder recording.Decoder
	mark    mark        // what is remembered over a restart
	info    fs.FileInfo // of the file when it was closed; nil: not known
	over    bool        // another file is at the path now, or none
	lost    uint64      // events that could not be read, as they were told last
}

// tellLost counts the events that could not be read.
func (f *recordingFile) tellLost() {
	const most = jvmthread.MaxEvents / 2 // whatever the recording says
	if lost := min(f.decoder.Stats().Lost, most); lost > f.lost {
		count(f.files.receiver.telemetry.ReceiverJvmThreadEventsLost, int64(lost-f.lost))
		f.lost = lost
	}
}

// read reads the file to its end, and if it is followed, on and on until it is replaced or removed. An error is told; other files do not
// notice it.
func (f *recordingFile) read(ctx context.Context) {
	err := f.run(ctx)
	r := f.files.receiver
	switch {
	case ctx.Err() != nil:
		return
	case err == nil:
		count(r.telemetry.ReceiverJvmThreadFiles, 1)
		stats := f.decoder.Stats()
		f.log.Info("Read a recording", zap.Int64("bytes", stats.Bytes), zap.Uint64("events", stats.Events), zap.Uint64("events_lost", stats.Lost),
			zap.Uint64("events_unknown", stats.Unknown), zap.Uint64("problems", stats.Problems))
	case errors.Is(err, errDone):
		f.log.Info("A recording was read before, as the storage says, and is not read again")
	case errors.Is(err, formats.ErrUnknown):
		count(r.telemetry.ReceiverJvmThreadFilesBad, 1)
		f.log.Error("Cannot read a recording; give its format as protocols::file::format if it has one, or exclude it", zap.Error(err))
	default:
		count(r.telemetry.ReceiverJvmThreadFilesBad, 1)
		f.log.Error("Cannot read a recording", zap.Error(err))
	}
}

var (
	errDone    = errors.New("read before")
	errSpecial = errors.New("it is a pipe or a device; give the paths of files")
)

func (f *recordingFile) run(ctx context.Context) (err error) {
	if info, err := os.Stat(f.path); err == nil && !info.Mode().IsRegular() {
		return errSpecial // to open a pipe could take for ever
	}
	if f.file, err = os.Open(f.path); err != nil {
		return err
	}
	defer func() {
		f.info, _ = f.file.Stat()
		_ = f.file.Close() // it was only read
	}()
	if err := f.recall(ctx); err != nil {
		return err
	}
	format, r, free, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer free()
	if err := f.mark.begin(f.file); err != nil {
		return err
	}
	f.log = f.log.With(zap.String("format", format.Name))
	f.begin(ctx, &format)
	defer f.replay.abandon()
	defer f.tellLost()
	if f.files.cfg.Follow && r == io.Reader(f.file) && !f.settled(ctx) {
		err = f.follow(ctx)
	} else {
		if r != io.Reader(f.file) { // which decoders read as a file
			r = cancellable{ctx, r}
		}
		_, err = io.Copy(f.decoder, r)
	}
	f.over = errors.Is(err, errGone)
	if err != nil && ctx.Err() == nil && !f.over { // such as a broken gzip stream: what came is good
		if told := f.replay.Problem(f.broken(err)); told != nil {
			return told
		}
	}
	if ctx.Err() != nil {
		f.remember(context.WithoutCancel(ctx), false)
		return ctx.Err()
	}
	if err := f.decoder.Close(); err != nil {
		return err
	}
	if err := f.replay.lose(); err != nil {
		return err
	}
	f.remember(ctx, true)
	return nil
}

// cancellable ends with its context: a compressed file can take long before there is anything to hand on.
type cancellable struct {
	ctx context.Context //nolint:containedctx // of the goroutine that reads
	io.Reader
}

func (c cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}

func (f *recordingFile) broken(err error) recording.Problem {
	return recording.Problem{File: f.path, Byte: f.decoder.Stats().Bytes, What: err.Error(), Remedy: "what was before is read"}
}

// open finds out what the file is. One that is followed may still be empty, and one that is compressed is read once it does not grow any more.
func (f *recordingFile) open(ctx context.Context) (recording.Format, io.Reader, func(), error) {
	follow, steady := f.files.cfg.Follow, false
	for {
		info, statErr := f.file.Stat() // before it is looked at: it may grow meanwhile
		if follow && f.compressed() {
			if steady = f.steady(ctx); !steady {
				return recording.Format{}, nil, nil, ctx.Err()
			}
		}
		format, r, free, err := formats.Open(f.file, f.files.cfg.Format)
		switch {
		case err == nil && (!follow || steady || r == io.Reader(f.file)):
			return format, r, free, nil
		case err == nil: // it was empty, and has just begun to be compressed
			free()
		case !follow || statErr != nil || info.Size() >= recording.HeadSize || f.replaced(info):
			return format, r, free, err
		}
		if !f.idle(ctx) {
			return format, nil, nil, ctx.Err()
		}
		if _, err := f.file.Seek(0, io.SeekStart); err != nil {
			return format, nil, nil, err
		}
	}
}

func (f *recordingFile) begin(ctx context.Context, format *recording.Format) {
	cfg := f.files.cfg
	sym := symbols.New(symbols.DefaultLimits())
	f.replay = &replay{
		receiver: f.files.receiver, ctx: ctx, log: f.log, format: format.Name, head: f.mark.seed(), symbols: sym, pace: cfg.Pace, resume: f.mark,
	}
	options := recording.Options{
		File: f.path, Symbols: sym, Sidecar: formats.Sidecar(f.path), Times: recording.Times{Unit: cfg.TimeUnit}, MaxRecord: cfg.MaxRecordSize,
		MaxUnpacked: cfg.MaxUnpackedSize,
	}
	if !cfg.Start.IsZero() {
		options.Times.First = jvmthread.Time(cfg.Start.UnixNano())
	}
	f.decoder = format.New(options, recording.CompleteWaits(f.replay))
	if missing := format.Carries.Missing(); len(missing) > 0 {
		f.log.Info("A recording is read; what its format cannot hold is not in it", zap.Strings("lacks", missing))
	}
}
