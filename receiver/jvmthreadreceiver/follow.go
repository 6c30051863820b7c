// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jvmthreadreceiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/weft-otel/weft/internal/recording/formats"
)

// surveyor is a decoder that knows more of a file than that it grows.
type surveyor interface {
	Survey(src io.ReaderAt, size int64) (readable int64, live, whole bool)
}

// compressed reports whether the file begins like one that is.
func (f *recordingFile) compressed() bool {
	var head [8]byte
	n, _ := f.file.ReadAt(head[:], 0) // an error comes again when it is read
	return formats.Compressed(head[:n])
}

// steady waits until the file does not grow any more, and reports whether that came before the end of the context.
func (f *recordingFile) steady(ctx context.Context) bool {
	for size := int64(-1); ; {
		info, err := f.file.Stat()
		if err != nil || info.Size() == size {
			return true // an error comes again when it is read
		}
		size = info.Size()
		if !f.idle(ctx) {
			return false
		}
	}
}

// settled reports whether a file of a format that is better read as a whole is whole, and does not grow.
func (f *recordingFile) settled(ctx context.Context) bool {
	decoder, ok := f.decoder.(surveyor)
	for size := int64(-1); ok; {
		info, err := f.file.Stat()
		if err != nil {
			return false
		}
		_, live, whole := decoder.Survey(f.file, info.Size())
		if live || info.Size() == size {
			return whole
		}
		size = info.Size()
		if !f.idle(ctx) {
			return false
		}
	}
	return false
}

// readable is how much of the file may be read now, and whether that is all that there will be.
func (f *recordingFile) readable() (limit int64, whole bool, err error) {
	info, err := f.file.Stat()
	if err != nil {
		return 0, false, err
	}
	if decoder, ok := f.decoder.(surveyor); ok {
		limit, _, whole = decoder.Survey(f.file, info.Size())
		return limit, whole, nil
	}
	return info.Size(), false, nil
}

// errGone says that what is at the path is another file now, or none: nothing more comes of this one.
var errGone = errors.New("the file was replaced or removed")

// follow reads as the file grows, until it is replaced or removed, or is of a format that says that no more will come: the repository of a
// JVM has a file for each chunk, and only one of them grows.
func (f *recordingFile) follow(ctx context.Context) error {
	var offset int64
	flushed, gone := true, false
	var buf []byte
	for {
		limit, whole, err := f.readable()
		if err != nil {
			return err
		}
		want := max(0, min(maxPiece, limit-offset))
		if int64(len(buf)) < want {
			buf = make([]byte, want)
		}
		n, err := f.file.ReadAt(buf[:want], offset)
		if n > 0 {
			offset += int64(n)
			flushed = false
			if _, err := f.decoder.Write(buf[:n]); err != nil {
				return err
			}
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if !flushed {
			if err := f.decoder.Flush(); err != nil {
				return err
			}
			f.remember(ctx, false)
			f.tellLost()
			flushed, buf = true, nil
		}
		if gone {
			return errGone
		}
		if whole && offset >= limit {
			return nil
		}
		info, err := f.file.Stat()
		switch {
		case err != nil:
			return err
		case info.Size() < offset:
			return fmt.Errorf("it has become shorter, from %d to %d bytes: %w", offset, info.Size(), errGone)
		case f.replaced(info):
			gone = true // what was written until then is read
			continue
		}
		if !f.idle(ctx) {
			return ctx.Err()
		}
	}
}

// maxPiece is how much is read at once.
const maxPiece = 1 << 20

// idle waits until it is time to look at the file again, and leaves its place to others meanwhile: most of the files in a folder do not grow.
func (f *recordingFile) idle(ctx context.Context) bool {
	f.files.leave()
	return pause(ctx, f.files.cfg.PollInterval) && f.files.enter(ctx)
}

// replaced reports whether the path leads to another file, or to none.
func (f *recordingFile) replaced(info fs.FileInfo) bool {
	now, err := os.Stat(f.path)
	return err != nil || !os.SameFile(info, now)
}
