// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
)

// recordingFile is a file read by one goroutine.
type recordingFile struct {
	path    string
	cfg     *Config
	out     *outlet.Outlet
	slots   slots
	storage storage.Client
	log     *zap.Logger

	file    *os.File
	replay  *replay
	decoder recording.Decoder
	mark    mark
	info    fs.FileInfo // of the file when it was closed; nil: unknown
	gone    bool        // the path now leads to another file or to none
	lost    uint64      // unreadable events already counted
}

var errSpecial = errors.New("it is a pipe or a device; use paths of regular files")

// read reads the file to its end or, if it is followed, until it is replaced or removed. It logs errors, which do not affect other files.
func (f *recordingFile) read(ctx context.Context) {
	err := f.run(ctx)
	var failed *defect
	switch {
	case errors.As(err, &failed):
		outlet.Count(f.out.Telemetry.ReceiverJvmThreadFilesBad, 1)
		f.log.Error("A defect in Weft ended the reading of a recording; please report it with this line and the file",
			zap.Int64("byte", failed.at), zap.String("panic", failed.Value), zap.Strings("stack", failed.Stack))
	case ctx.Err() != nil:
		return
	case err == nil:
		outlet.Count(f.out.Telemetry.ReceiverJvmThreadFiles, 1)
		stats := f.decoder.Stats()
		f.log.Info("Finished a recording", zap.Int64("bytes", stats.Bytes), zap.Uint64("events", stats.Events), zap.Uint64("events_lost", stats.Lost),
			zap.Uint64("events_unknown", stats.Unknown), zap.Uint64("problems", stats.Problems))
	case errors.Is(err, errDone):
		f.log.Info("Skipped a recording that was read before, according to the storage")
	case errors.Is(err, formats.ErrUnknown):
		outlet.Count(f.out.Telemetry.ReceiverJvmThreadFilesBad, 1)
		f.log.Error("Cannot read a recording", zap.Error(err), zap.String("remedy", "set protocols::file::format to its format, or exclude it"))
	default:
		outlet.Count(f.out.Telemetry.ReceiverJvmThreadFilesBad, 1)
		f.log.Error("Cannot read a recording", zap.Error(err))
	}
}

func (f *recordingFile) run(ctx context.Context) (err error) {
	if info, err := os.Stat(f.path); err == nil && !info.Mode().IsRegular() {
		return errSpecial // opening a pipe could block forever
	}
	if f.file, err = os.Open(f.path); err != nil {
		return err
	}
	defer func() {
		f.info, _ = f.file.Stat()
		_ = f.file.Close() // opened for reading only
	}()
	if err := f.mark.load(ctx, f.storage, f.path, f.file); err != nil {
		return err
	}
	defer func() {
		if f.replay != nil {
			f.replay.abandon()
		}
	}()
	if p := failure.Contain(func() { err = f.contents(ctx) }); p != nil {
		return f.fail(ctx, p)
	}
	return err
}

// defect is a panic that ended the reading of a file.
type defect struct {
	*failure.Panic
	at int64 // byte in the file
}

// fail ends the session of a file whose reading has panicked. The file counts as read, so that it does not fail again after a restart.
func (f *recordingFile) fail(ctx context.Context, p *failure.Panic) error {
	failed := &defect{Panic: p}
	again := failure.Contain(func() {
		if f.decoder != nil {
			failed.at = f.decoder.Stats().Bytes
		}
		if f.replay != nil {
			_ = f.replay.lose() // fails at a shutdown only
		}
	})
	if again != nil {
		f.log.Debug("Another panic while the reading of a recording failed", zap.String("panic", again.Value), zap.Strings("stack", again.Stack))
	}
	f.remember(context.WithoutCancel(ctx), true)
	return failed
}

// contents delivers what the file has.
func (f *recordingFile) contents(ctx context.Context) error {
	format, r, free, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer free()
	if err := f.mark.begin(f.file); err != nil {
		return err
	}
	f.begin(ctx, &format)
	defer f.countLost()
	err = f.decode(ctx, r)
	f.gone = errors.Is(err, errGone)
	if err != nil && ctx.Err() == nil && !f.gone { // such as a broken gzip stream: the data before is good
		problem := recording.Problem{File: f.path, Byte: f.decoder.Stats().Bytes, What: err.Error(), Remedy: "the data before is read"}
		if err := f.replay.Problem(problem); err != nil {
			return err
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

// open detects the format. A followed file may still be empty, and a compressed one is read once it stops growing.
func (f *recordingFile) open(ctx context.Context) (recording.Format, io.Reader, func(), error) {
	follow, steady := f.cfg.Follow, false
	for {
		info, statErr := f.file.Stat() // before reading, since the file may grow meanwhile
		if follow && f.compressed() {
			if steady = f.steady(ctx); !steady {
				return recording.Format{}, nil, nil, ctx.Err()
			}
		}
		format, r, free, err := formats.Open(f.file, f.cfg.Format, formats.Limit{Bytes: f.cfg.MaxUnpackedSize, Option: "protocols::file::max_unpacked_size"})
		switch {
		case err == nil && (!follow || steady || r == io.Reader(f.file)):
			return format, r, free, nil
		case err == nil: // it was empty, and now turns out to be compressed
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

// begin creates decoder and replay.
func (f *recordingFile) begin(ctx context.Context, format *recording.Format) {
	f.log = f.log.With(zap.String("format", format.Name))
	sym := symbols.New(symbols.DefaultLimits())
	f.replay = &replay{
		ctx: ctx, out: f.out, log: f.log, format: format.Name, seed: f.mark.seed(), symbols: sym, pacer: pacer{pace: f.cfg.Pace}, resume: f.mark,
		places: make(map[jvmthread.ThreadID]int),
	}
	options := recording.Options{
		File: f.path, Symbols: sym, Sidecar: formats.Sidecar(f.path), Times: recording.Times{Unit: f.cfg.TimeUnit}, MaxRecord: f.cfg.MaxRecordSize,
		MaxUnpacked: f.cfg.MaxUnpackedSize,
	}
	if !f.cfg.Start.IsZero() {
		options.Times.First = jvmthread.Time(f.cfg.Start.UnixNano())
	}
	f.decoder = format.New(options, recording.CompleteWaits(f.replay))
	if missing := format.Carries.Missing(); len(missing) > 0 {
		f.log.Info("The format of a recording does not support everything", zap.Strings("lacks", missing))
	}
}

// decode feeds the file, or what r unpacks from it, to the decoder.
func (f *recordingFile) decode(ctx context.Context, r io.Reader) error {
	plain := r == io.Reader(f.file)
	if f.cfg.Follow && plain && !f.settled(ctx, f.decoder) {
		return f.follow(ctx, f.decoder, func() {
			f.remember(ctx, false)
			f.countLost()
		})
	}
	if !plain { // decoders read a plain file by themselves
		r = cancellable{ctx, r}
	}
	_, err := io.Copy(f.decoder, r)
	return err
}

// cancellable ends with its context: unpacking a file may take long before the first batch.
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

// remember saves the read position. If that fails, a restart may deliver events twice.
func (f *recordingFile) remember(ctx context.Context, done bool) {
	if f.cfg.Storage == nil {
		return
	}
	f.mark.Done = done
	if f.replay != nil {
		f.replay.advance(&f.mark)
	}
	if err := f.mark.save(ctx, f.storage, f.path, f.file); err != nil {
		f.log.Warn("Cannot save how far a recording was read", zap.Error(err))
	}
}

// countLost counts the events that could not be read.
func (f *recordingFile) countLost() {
	const most = jvmthread.MaxEvents / 2 // whatever the recording claims
	if lost := min(f.decoder.Stats().Lost, most); lost > f.lost {
		outlet.Count(f.out.Telemetry.ReceiverJvmThreadEventsLost, int64(lost-f.lost))
		f.lost = lost
	}
}
