// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet"
)

// slots limits the files that are read concurrently.
type slots chan struct{}

// enter waits for a slot. It reports false if ctx ends first.
func (s slots) enter(ctx context.Context) bool {
	select {
	case s <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave frees the slot. At shutdown there may be none.
func (s slots) leave() {
	select {
	case <-s:
	default:
	}
}

// surveyor is a decoder that knows how much of a file is ready to be read.
type surveyor interface {
	Survey(src io.ReaderAt, size int64) (readable int64, live, whole bool)
}

// compressed reports whether the file has the head of a compressed one.
func (f *recordingFile) compressed() bool {
	var head [8]byte
	n, _ := f.file.ReadAt(head[:], 0) // reading reports the error again
	return formats.Compressed(head[:n])
}

// steady waits until the file stops growing. It reports false if ctx ends first.
func (f *recordingFile) steady(ctx context.Context) bool {
	for size := int64(-1); ; {
		info, err := f.file.Stat()
		if err != nil || info.Size() == size {
			return true // reading reports the error again
		}
		size = info.Size()
		if !f.idle(ctx) {
			return false
		}
	}
}

// settled reports whether a file is complete, if its format is better read as a whole. It waits until the file stops growing.
func (f *recordingFile) settled(ctx context.Context, d recording.Decoder) bool {
	decoder, ok := d.(surveyor)
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

// readable returns how far the file can be read now, and whether that is all it will ever contain.
func (f *recordingFile) readable(d recording.Decoder) (limit int64, whole bool, err error) {
	info, err := f.file.Stat()
	if err != nil {
		return 0, false, err
	}
	if decoder, ok := d.(surveyor); ok {
		limit, _, whole = decoder.Survey(f.file, info.Size())
		return limit, whole, nil
	}
	return info.Size(), false, nil
}

// errGone means that the path now leads to another file or to none.
var errGone = errors.New("the file was replaced or removed")

// maxRead is the size of one read.
const maxRead = 1 << 20

// follow reads the file as it grows, until it is replaced or removed, or its format marks it as complete: a JVM's repository has a file
// for each chunk, and only one of them grows. It calls flushed after each flush of the decoder.
func (f *recordingFile) follow(ctx context.Context, decoder recording.Decoder, flushed func()) error {
	var offset int64
	pending, gone := false, false
	var buf []byte
	for {
		limit, whole, err := f.readable(decoder)
		if err != nil {
			return err
		}
		want := max(0, min(maxRead, limit-offset))
		if int64(len(buf)) < want {
			buf = make([]byte, want)
		}
		n, err := f.file.ReadAt(buf[:want], offset)
		if n > 0 {
			offset += int64(n)
			pending = true
			if _, err := decoder.Write(buf[:n]); err != nil {
				return err
			}
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if pending {
			if err := decoder.Flush(); err != nil {
				return err
			}
			flushed()
			pending, buf = false, nil
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
			return fmt.Errorf("file shrank from %d to %d bytes: %w", offset, info.Size(), errGone)
		case f.replaced(info):
			gone = true // read what was written before that
			continue
		}
		if !f.idle(ctx) {
			return ctx.Err()
		}
	}
}

// idle waits for the next check of the file and frees its slot meanwhile, since most files in a folder do not grow.
func (f *recordingFile) idle(ctx context.Context) bool {
	f.slots.leave()
	return outlet.Pause(ctx, f.cfg.PollInterval) && f.slots.enter(ctx)
}

// replaced reports whether the path now leads to another file or to none.
func (f *recordingFile) replaced(info fs.FileInfo) bool {
	now, err := os.Stat(f.path)
	return err != nil || !os.SameFile(info, now)
}
