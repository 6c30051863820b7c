// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/cmd/weft/internal/units"
	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/recording/otlp"
)

// Bounds of a request, usually a line of some megabytes.
const (
	maxLine        = 128 << 20 // bytes
	maxLineObjects = 4 << 20   // in it, which take up to 160 bytes each in memory but only 3 in the line
)

// Read adds up the sources: traces as OTLP JSON, or recordings in any format. Memory depends on the longest line and
// on the number of threads and windows only. Lines that cannot be read are skipped and listed in the error.
func Read(sources ...replay.Source) (Summary, error) {
	c := newCollection()
	var errs []error
	for _, source := range sources {
		if err := c.readSource(source); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", printable.Text(source.Name), err))
		}
	}
	return c.summary(), errors.Join(errs...)
}

// readSource detects whether a source is traces or a recording, and whether it is compressed.
func (c *collection) readSource(source replay.Source) error {
	r, head, err := peek(source.Reader)
	if err != nil {
		return err
	}
	if !formats.Compressed(head) {
		return c.readPlain(source, r, head)
	}
	plain, free, err := formats.Decompress(r, formats.Limit{Bytes: source.MaxUnpacked, Option: replay.UnpackedOption})
	if err != nil {
		return fmt.Errorf("cannot decompress: %w", err)
	}
	defer free()
	source.Reader = nil      // no random access
	r, head, _ = peek(plain) // reading returns the same error
	return c.readPlain(source, r, head)
}

// inPlace returns the file of a source from its start, so that its decoder need not copy it for random access; r if the source is not a file.
func inPlace(s *replay.Source, r io.Reader) io.Reader {
	file, ok := s.Reader.(*os.File)
	if !ok || s.Path == "" {
		return r
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return r
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return r
	}
	return file
}

func peek(r io.Reader) (_ *bufio.Reader, head []byte, err error) {
	buffered := bufio.NewReaderSize(r, recording.HeadSize)
	head, err = buffered.Peek(recording.HeadSize)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return buffered, head, err
}

func (c *collection) readPlain(source replay.Source, r io.Reader, head []byte) error {
	if len(head) == 0 {
		return formats.ErrEmpty
	}
	if text := bytes.TrimSpace(head); len(text) == 0 || text[0] == '{' {
		return c.readLines(r)
	}
	format, err := formats.Detect(head)
	switch {
	case err == nil:
		switch format.Name {
		case "native":
			r = source.Span.Part(source.Reader, r)
		case "jfr":
			r = inPlace(&source, r)
		}
		return replay.Play(&format, source, r, &player{collection: c})
	case isText(head):
		return c.readLines(r) // which reports what is wrong with each line
	}
	return fmt.Errorf("not OTLP JSON, and %w", err)
}

// isText reports whether head may be the start of a text; its last character may be incomplete.
func isText(head []byte) bool {
	return bytes.IndexByte(head, 0) < 0 && utf8.Valid(head[:max(0, len(head)-utf8.UTFMax)])
}

// readLines reads OTLP JSON.
func (c *collection) readLines(r io.Reader) error {
	var (
		decoder ptrace.JSONUnmarshaler
		bad     []error
		more    int
	)
	report := func(line uint64, err error) {
		if len(bad) < replay.MaxReported {
			bad = append(bad, fmt.Errorf("line %d: %w", line, err))
		} else {
			more++
		}
	}
	requests := otlp.NewSplitter(maxLine, func(request *otlp.Request) {
		if request.Err != nil {
			report(request.Line, request.Err)
			return
		}
		td, err := otlp.Unmarshal(&decoder, request.Text, maxLineObjects)
		if err != nil {
			report(request.Line, err)
			return
		}
		c.add(td)
	})
	_, err := io.Copy(requests, r)
	requests.Close()
	if err != nil {
		bad = append(bad, fmt.Errorf("line %d: %w", requests.Line(), err))
	}
	if more > 0 {
		bad = append(bad, fmt.Errorf("and %s", units.Plural(int64(more), "more bad line")))
	}
	return errors.Join(bad...)
}
