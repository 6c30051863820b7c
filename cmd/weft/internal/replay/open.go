// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
)

// input is an open source.
type input struct {
	format recording.Format
	reader io.Reader // of the recording, decompressed
	seed   []byte    // see formats.SessionID
	free   func()
}

// File is a file, or a file of an archive.
type File interface {
	io.ReadSeeker
	io.ReaderAt
}

// File returns what the source reads if that can be read at any place, and again; nil: it cannot.
func (s *Source) File() File {
	switch r := s.Reader.(type) {
	case *os.File:
		if s.Path != "" && isRegular(r) {
			return r
		}
	case *io.SectionReader:
		return r
	}
	return nil
}

// Progress returns how far a file was read, as far as it is read in sequence, and its size; false: it is not a file.
func (s *Source) Progress() (at, size int64, ok bool) {
	file := s.File()
	if file == nil {
		return 0, 0, false
	}
	at, err := file.Seek(0, io.SeekCurrent)
	return at, s.Size(), err == nil
}

// Size returns the size of a file, 0 if it is not known.
func (s *Source) Size() int64 {
	switch r := s.Reader.(type) {
	case *os.File:
		if info, err := r.Stat(); err == nil {
			return info.Size()
		}
	case *io.SectionReader:
		return r.Size()
	}
	return 0
}

// open detects the format of a source, and decompresses it. A file is read in place: decoders of flight recordings need random access.
func (s *Source) open() (in input, err error) {
	limit := formats.Limit{Bytes: s.MaxUnpacked, Option: UnpackedOption}
	file := s.File()
	if file == nil {
		in.format, in.reader, in.seed, in.free, err = formats.OpenStream(s.Reader, s.Format, limit)
		return in, err
	}
	in.seed = make([]byte, formats.SeedSize)
	n, err := file.ReadAt(in.seed, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return in, fmt.Errorf("cannot read: %w", err)
	}
	in.seed = in.seed[:n]
	in.format, in.reader, in.free, err = formats.Open(file, s.Format, limit)
	if err == nil && in.format.Name == "native" && in.reader == io.Reader(file) {
		in.reader = s.Span.Part(file, in.reader)
	}
	return in, err
}

func isRegular(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular()
}
