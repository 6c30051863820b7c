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

// open detects the format of a source, and decompresses it. A file is read in place: decoders of flight recordings need random access.
func (s *Source) open() (in input, err error) {
	limit := formats.Limit{Bytes: s.MaxUnpacked, Option: UnpackedOption}
	file, ok := s.Reader.(*os.File)
	if !ok || s.Path == "" || !isRegular(file) {
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
