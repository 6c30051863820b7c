// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package formats lists all recording formats, recognizes the format and compression of a file, and opens it.
package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/dump"
	"github.com/weft-otel/weft/internal/recording/jfr"
	"github.com/weft-otel/weft/internal/recording/native"
	"github.com/weft-otel/weft/internal/recording/orca"
	"github.com/weft-otel/weft/internal/recording/otlp"
	"github.com/weft-otel/weft/internal/recording/tptp"
	"github.com/weft-otel/weft/internal/recording/triples"
)

// All returns all formats, those with the most distinctive signature first.
func All() []recording.Format {
	return []recording.Format{native.Format(), jfr.Format(), tptp.Format(), orca.Format(), triples.Format(), otlp.Format(), dump.Format()}
}

// Names returns the names of all formats.
func Names() (names []string) {
	all := All()
	for i := range all {
		names = append(names, all[i].Name)
	}
	return names
}

// Find returns the format with the given name.
func Find(name string) (recording.Format, error) {
	all := All()
	for i := range all {
		if all[i].Name == name {
			return all[i], nil
		}
	}
	return recording.Format{}, fmt.Errorf("unknown format %q: want one of %s", name, strings.Join(Names(), ", "))
}

// Writable returns the formats that can be written.
func Writable() []recording.Format {
	return slices.DeleteFunc(All(), func(f recording.Format) bool { return f.NewEncoder == nil })
}

// ErrEmpty reports that a recording has no bytes.
var ErrEmpty = errors.New("the recording is empty: nothing has been written yet, or the writer was killed")

// ErrUnknown reports that a recording is in none of the formats.
var ErrUnknown = errors.New("unknown recording format")

// Detect returns the format of a recording that starts with head, decompressed.
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
	if Compressed(head) {
		return recording.Format{}, fmt.Errorf("%w: the file is compressed more than once; decompress it before", ErrUnknown)
	}
	if f := foreignTo(head); f != nil {
		return recording.Format{}, f
	}
	if isJSON(head) {
		return recording.Format{}, unknownJSON(head)
	}
	if dump.IsText(head) { // a log may have a thread dump further on
		return dump.Format(), nil
	}
	return recording.Format{}, fmt.Errorf("%w: the file starts with %.16q; %s", ErrUnknown, head, onlyJVMs)
}

// Open determines the compression of a recording, and its format unless that is given. The reader is at the start of the decompressed
// recording, which ends at the limit; it is the file itself if that is not compressed. The caller calls free after use.
func Open(file io.ReadSeeker, format string, limit Limit) (f recording.Format, r io.Reader, free func(), err error) {
	head := make([]byte, recording.HeadSize)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return f, nil, nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return f, nil, nil, err
	}
	return open(file, head[:n], format, limit)
}

// OpenStream is Open for what can be read once only, such as a pipe. It also returns the first bytes of the stream, compressed or not: those
// from which SessionID derives ids.
func OpenStream(stream io.Reader, format string, limit Limit) (f recording.Format, r io.Reader, seed []byte, free func(), err error) {
	buffered := bufio.NewReaderSize(stream, recording.HeadSize)
	head, err := buffered.Peek(recording.HeadSize)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return f, nil, nil, nil, err
	}
	seed = append(seed, head[:min(len(head), SeedSize)]...)
	f, r, free, err = open(buffered, head, format, limit)
	return f, r, seed, free, err
}

// open is Open for a reader that starts with head.
func open(file io.Reader, head []byte, format string, limit Limit) (f recording.Format, r io.Reader, free func(), err error) {
	if r, head, free, err = plain(file, head, limit); err != nil {
		return f, nil, nil, err
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

// plain returns the contents of a file that starts with head, and their first bytes.
func plain(file io.Reader, head []byte, limit Limit) (r io.Reader, start []byte, free func(), err error) {
	if !Compressed(head) {
		return file, head, func() {}, nil
	}
	if r, free, err = Decompress(file, limit); err != nil {
		return nil, nil, nil, err
	}
	buffered := bufio.NewReaderSize(r, recording.HeadSize)
	if start, err = buffered.Peek(recording.HeadSize); err != nil && !errors.Is(err, io.EOF) && len(start) == 0 {
		free()
		return nil, nil, nil, err
	}
	return buffered, start, free, nil
}

// Recognize reports why a file cannot be read; nil: it has a recording. Text must have a thread dump.
func Recognize(file io.ReadSeeker, limit Limit) error {
	f, r, free, err := Open(file, "", limit)
	if err == nil {
		if f.Name == dump.Name && !hasDump(r) {
			err = &Foreign{"text without a thread dump", takeDump}
		}
		free()
	}
	return errors.Join(err, rewind(file))
}

// hasDump reports whether text has a thread dump, which begins anywhere.
func hasDump(r io.Reader) bool {
	buf := make([]byte, 16*recording.HeadSize)
	for have := 0; ; {
		n, err := io.ReadFull(r, buf[have:])
		if have += n; dump.Match(buf[:have]) {
			return true
		}
		if err != nil {
			return false
		}
		have = copy(buf, buf[have-recording.HeadSize:have])
	}
}

// SeedSize is the number of bytes at the start of a file from which SessionID derives ids.
const SeedSize = 256

// SessionID returns the id of a session whose format has none. It depends on the start of the file, which is the seed, and on the number of
// the session in it, from 0: the id is the same on each reading.
func SessionID(seed []byte, number byte) jvmthread.SessionID {
	return jvmthread.DeriveSessionID(append(slices.Clip(seed), number))
}

// Sidecar returns a function for recording.Options that opens the sidecar files of the recording at a path.
func Sidecar(path string) func(extension string) (io.ReadCloser, error) {
	return func(extension string) (io.ReadCloser, error) {
		file, err := os.Open(SidecarPath(path, extension))
		if err != nil {
			return nil, err
		}
		return file, nil
	}
}

// SidecarPath returns the path of a file that accompanies the recording at a path. Such files are never compressed, and all parts of a rotated
// recording (x.orca-<time>, x.orca.1.gz) share them.
func SidecarPath(path, extension string) string {
	path, _ = CutCompression(path)
	own := filepath.Ext(path)
	base := strings.TrimSuffix(path, own)
	if strings.Trim(own, ".0123456789") == "" {
		base = strings.TrimSuffix(base, filepath.Ext(base))
	}
	return base + extension
}
