// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/weft-otel/weft/internal/recording"
)

// beside is a file of metadata, and how much of it was read.
type beside struct {
	extension string
	read      int64
	lines     uint64
	part      []byte // of the last line, whose end may still come
	bad       bool   // it could not be opened, which was told
}

// load reads what there is of the metadata beside the log and was not read yet: one file with both parts, or one for each. That there is none
// is no problem; frames then show the numbers of their methods.
func (s *stacks) load() {
	opts := s.decoder.Options()
	if opts.Beside == nil {
		return
	}
	for i := range s.files {
		b := &s.files[i]
		file, err := opts.Beside(b.extension)
		if errors.Is(err, fs.ErrNotExist) || err == nil && file == nil {
			continue
		}
		if err != nil {
			if !b.bad {
				s.decoder.Problem(recording.Problem{What: "metadata " + b.extension + ": " + err.Error(), Remedy: "frames show numbers instead of methods"})
			}
			b.bad = true
			continue
		}
		before := b.read
		s.read(file, opts, b)
		_ = file.Close() // was only read
		if b.read != before {
			s.known, s.knownText = nil, 0
		}
	}
}

// read reads the rest of a file of metadata. Its problems are told as such of that file.
func (s *stacks) read(file io.Reader, opts *recording.Options, b *beside) {
	inner := *opts
	inner.File = strings.TrimSuffix(opts.File, Extension) + b.extension
	lines, at := b.lines, b.read-int64(len(b.part))
	var text *recording.Text
	tell := func(p recording.Problem) {
		p.Byte += at
		if p.Line > 0 {
			p.Line += lines
		}
		text.Problem(p)
	}
	text = recording.NewLines(recording.NewBatcher(inner, metaSink{s.decoder}, recording.Session{}), func(line []byte) {
		if what := s.define(line); what != "" {
			p := text.Position()
			p.What, p.Remedy = what, "a line is <class>,<file> or <method>,<name>,<signature>,<class>,<count>(,<location>,<line>)*"
			tell(p)
		}
	}, nil)
	if _, err := io.CopyN(io.Discard, file, b.read); err != nil {
		return // it has become shorter: another was put in its place, of which nothing is new
	}
	var more [1]byte
	n, err := io.ReadFull(file, more[:])
	if n == 0 && errors.Is(err, io.EOF) {
		return
	}
	if err == nil {
		rest := io.MultiReader(bytes.NewReader(bytes.Clone(b.part)), &counting{io.MultiReader(bytes.NewReader(more[:]), file), b, opts.MaxRecord})
		_, err = io.Copy(text, rest)
	}
	if err = errors.Join(err, text.Close()); err != nil {
		tell(recording.Problem{Byte: text.Stats().Bytes, What: err.Error(), Remedy: "the rest of it is not read"})
	}
}

// counting notes how much of a file was read, and what of its last line.
type counting struct {
	io.Reader
	*beside

	limit int // bytes of a line that are kept
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += int64(n)
	line := p[:n]
	if end := bytes.LastIndexByte(line, '\n'); end >= 0 {
		c.lines += uint64(bytes.Count(line, []byte{'\n'}))
		c.part, line = c.part[:0], line[end+1:]
	}
	c.part = append(c.part, line[:min(len(line), max(0, c.limit-len(c.part)))]...)
	return n, err
}

// metaSink takes the problems of a file of metadata, in which there are no events to lose.
type metaSink struct{ decoder *decoder }

func (metaSink) Session(*recording.Session) error { return nil }
func (metaSink) Batch(*recording.Batch) error     { return nil }
func (metaSink) End(recording.End) error          { return nil }

func (m metaSink) Problem(p recording.Problem) error {
	p.Lost = 0
	m.decoder.ProblemOf(p.File, p)
	return m.decoder.Err()
}
