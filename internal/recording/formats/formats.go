// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package formats answers: which format is this recording in? It knows all of them, and what they may be compressed with.
package formats

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/jfr"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/recording/orca"
	"github.com/weft-otel/weft/internal/recording/tptp"
	"github.com/weft-otel/weft/internal/recording/triples"
)

// All returns all formats; those that are surest of what is theirs first.
func All() []recording.Format {
	return []recording.Format{native.Format(), jfr.Format(), tptp.Format(), orca.Format(), triples.Format()}
}

// Names lists what All has.
func Names() (names []string) {
	all := All()
	for i := range all {
		names = append(names, all[i].Name)
	}
	return names
}

// Find returns the format with a name.
func Find(name string) (recording.Format, error) {
	all := All()
	for i := range all {
		if all[i].Name == name {
			return all[i], nil
		}
	}
	return recording.Format{}, fmt.Errorf("there is no format %q; the formats are %s", name, strings.Join(Names(), ", "))
}

// ErrEmpty says that there is nothing in a recording.
var ErrEmpty = errors.New("it is empty: nothing was written yet, or who would have written it was killed")

// ErrUnknown says that a recording is in none of the formats.
var ErrUnknown = errors.New("this is a recording in no format that is known")

// Detect finds the format that looks like the head of a recording, which is not compressed.
func Detect(head []byte) (recording.Format, error) {
	if len(head) == 0 {
		return recording.Format{}, ErrEmpty
	}
	all := All()
	for i := range all {
		if all[i].Match(head) {
			return all[i], nil
		}
	}
	return recording.Format{}, fmt.Errorf("%w: it begins with %.16q; the formats are %s", ErrUnknown, head, strings.Join(Names(), ", "))
}

// How a recording may be compressed, by how it begins.
const (
	magicGzip = "\x1f\x8b"
	magicZstd = "\x28\xb5\x2f\xfd"
)

// Compressed reports whether a file that begins so is compressed.
func Compressed(head []byte) bool {
	return strings.HasPrefix(string(head), magicGzip) || strings.HasPrefix(string(head), magicZstd)
}

// maxWindow bounds the memory that a zstd file can ask for.
const maxWindow = 128 << 20

// Decompress returns what is in a compressed file, and what frees it.
func Decompress(r io.Reader) (_ io.Reader, free func(), err error) {
	buffered := bufio.NewReaderSize(r, 1<<16)
	head, err := buffered.Peek(len(magicZstd))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if strings.HasPrefix(string(head), magicGzip) {
		z, err := gzip.NewReader(buffered)
		return z, func() {}, err
	}
	z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, err
	}
	return z, z.Close, nil
}

// Open finds out how a recording is compressed and in which format it is, unless that is given. The reader is at its begin, decompressed;
// it is the file itself if that is not compressed.
func Open(file io.ReadSeeker, format string) (f recording.Format, r io.Reader, free func(), err error) {
	r, free = file, func() {}
	head := make([]byte, recording.HeadSize)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return f, nil, nil, err
	}
	head = head[:n]
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return f, nil, nil, err
	}
	if Compressed(head) {
		if r, free, err = Decompress(file); err != nil {
			return f, nil, nil, fmt.Errorf("it cannot be decompressed: %w", err)
		}
		buffered := bufio.NewReaderSize(r, recording.HeadSize)
		if head, err = buffered.Peek(recording.HeadSize); err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
			free()
			return f, nil, nil, fmt.Errorf("it cannot be decompressed: %w", err)
		}
		r = buffered
	}
	if format != "" {
		f, err = Find(format)
	} else {
		f, err = Detect(head)
	}
	if err != nil {
		free()
		return f, nil, nil, err
	}
	return f, r, free, nil
}

// Beside opens what belongs to the recording at a path, for recording.Options. That is not compressed, even if the recording is, and is one
// file for all pieces of a recording that was rotated (x.orca-<time>, x.orca.1.gz).
func Beside(path string) func(extension string) (io.ReadCloser, error) {
	path = strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
	extension := filepath.Ext(path)
	base := strings.TrimSuffix(path, extension)
	if strings.Trim(extension, ".0123456789") == "" {
		base = strings.TrimSuffix(base, filepath.Ext(base))
	}
	return func(extension string) (io.ReadCloser, error) {
		file, err := os.Open(base + extension)
		if err != nil {
			return nil, err
		}
		return file, nil
	}
}
