// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package orca

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/weft-otel/weft/internal/recording"
)

// sidecar is a metadata file, which may grow with the log, and be replaced when that ends.
type sidecar struct {
	extension string
	text      *recording.Text
	info      fs.FileInfo // of the file that was read; nil if unknown
	failed    bool        // could not be opened, as reported
}

func (s *stacks) newSidecar(extension string) sidecar {
	return sidecar{extension: extension, text: s.newText(extension)}
}

func (s *stacks) newText(extension string) (text *recording.Text) {
	options := s.decoder.Options
	options.File = strings.TrimSuffix(options.File, Extension) + extension
	text = recording.NewLines(recording.NewBatcher(options, metaSink{s.decoder}, recording.Session{}), func(line []byte) {
		if what := s.define(line); what != "" {
			text.Report(0, what, "want <class>,<file> or <method>,<name>,<signature>,<class>,<count>(,<location>,<line>)*")
		}
	}, nil)
	return text
}

// load reads what was added to the metadata files since the last call: one file with both parts, or one for each. All of them may be absent;
// frames then show method numbers.
func (s *stacks) load() {
	open := s.decoder.Options.Sidecar
	if open == nil {
		return
	}
	for i := range s.files {
		f := &s.files[i]
		file, err := open(f.extension)
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && file == nil:
		case err != nil:
			if !f.failed {
				s.decoder.Problem(recording.Problem{
					What: "cannot open the metadata file " + f.extension + ": " + err.Error(), Remedy: "frames will show numbers instead of method names",
				})
			}
			f.failed = true
		default:
			if f.replaced(file) {
				f.text = s.newText(f.extension)
			}
			if f.read(file) {
				s.known, s.knownText = nil, 0
			}
			_ = file.Close() // was only read
		}
	}
}

// replaced reports whether the file is another one than that of the last call.
func (f *sidecar) replaced(file io.Reader) bool {
	named, ok := file.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return false
	}
	before := f.info
	info, err := named.Stat()
	if err != nil {
		return false
	}
	f.info = info
	return before != nil && !os.SameFile(before, info)
}

// read reads what was added to the file, and reports whether there was anything. An incomplete last line is read now and again later.
func (f *sidecar) read(file io.Reader) bool {
	before := f.text.Stats().Bytes
	if _, err := io.CopyN(io.Discard, file, before); err != nil {
		return false // a shorter file has replaced it
	}
	_, err := io.Copy(f.text, file)
	after := f.text.Stats().Bytes
	if after > before {
		f.text.Peek()
	}
	if err != nil {
		f.text.Problem(recording.Problem{Byte: after, What: err.Error(), Remedy: "skipping the rest of the file"})
	}
	return after > before
}

// metaSink forwards the problems of a metadata file, which has no events.
type metaSink struct{ decoder *decoder }

func (metaSink) Session(*recording.Session) error { return nil }
func (metaSink) Batch(*recording.Batch) error     { return nil }
func (metaSink) End(recording.End) error          { return nil }

func (m metaSink) Problem(p recording.Problem) error {
	p.Lost = 0
	m.decoder.Problem(p)
	return m.decoder.Err()
}
