// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// maxReported bounds how many bad lines an error lists.
const maxReported = 10

// Source is where traces are read from, and what it is called in errors.
type Source struct {
	Name   string
	Reader io.Reader
}

// Read adds up all traces of the sources, one OTLP JSON object a line, or what recordings in any format come to, in memory that depends on the longest line and the number of
// threads and windows only. A line that cannot be read is left out: the summary is then of the others, and the error tells the line.
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
		line, err := lines.ReadBytes('\n')
		if content := bytes.TrimSpace(line); len(content) > 0 {
			td, decodeErr := decoder.UnmarshalTraces(content)
			switch {
			case decodeErr == nil:
				c.add(td)
			case len(bad) < maxReported:
				bad = append(bad, fmt.Errorf("line %d: not OTLP JSON: %w", number, decodeErr))
			default:
				more++
			}
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
