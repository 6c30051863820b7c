// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// maxReported bounds how many bad lines an error lists.
const maxReported = 10

// Source is where traces are read from, and what it is called in errors.
type Source struct {
	Name   string
	Path   string // of the file, if it is one: what belongs to it is beside it
	Span   Span   // of which the summary is to be, of a recording; zero: all
	Reader io.Reader
}

// maxLine bounds the bytes of a line: it has the spans of one request, which are some megabytes.
const maxLine = 256 << 20

// Read adds up all traces of the sources, one OTLP JSON object a line, or what recordings in any format come to, in memory that depends on the
// longest line and the number of threads and windows only. A line that cannot be read is left out: the summary is then of the others, and the
// error tells the line.
func Read(sources ...Source) (Summary, error) {
	c := newCollection()
	var errs []error
	for _, source := range sources {
		if err := c.readSource(source); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", source.Name, err))
		}
	}
	return c.summary(), errors.Join(errs...)
}

func (c *collection) read(r io.Reader) error {
	var (
		lines   = bufio.NewReaderSize(r, 1<<20)
		decoder ptrace.JSONUnmarshaler
		bad     []error
		more    int
	)
	for number := 1; ; number++ {
		line, wrong, err := readLine(lines, maxLine)
		var td ptrace.Traces
		content := bytes.TrimSpace(line)
		if wrong == nil && len(content) > 0 {
			td, wrong = decoder.UnmarshalTraces(content)
			wrong = notJSON(wrong)
		}
		switch {
		case wrong != nil && len(bad) >= maxReported:
			more++
		case wrong != nil:
			bad = append(bad, fmt.Errorf("line %d: %w", number, wrong))
		case len(content) > 0:
			c.add(td)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("line %d: %w", number, err))
			break
		}
	}
	if more > 0 {
		bad = append(bad, fmt.Errorf("and %s", plural(int64(more), "more bad line")))
	}
	return errors.Join(bad...)
}

// readLine returns the next line, with its end. One that is longer than the limit is wrong, and passed over.
func readLine(r *bufio.Reader, limit int) (line []byte, wrong, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		switch {
		case wrong != nil:
		case len(line)+len(piece) > limit:
			line, wrong = nil, fmt.Errorf("it is longer than %d bytes", limit)
		default:
			line = append(line, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, wrong, err
		}
	}
}

// notJSON leaves out of an error of the decoder what it quotes of the line.
func notJSON(err error) error {
	if err == nil {
		return nil
	}
	what, _, _ := strings.Cut(err.Error(), ", error found in ")
	return fmt.Errorf("not OTLP JSON: %s", strings.ToValidUTF8(what, "\uFFFD"))
}
