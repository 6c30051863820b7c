// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording/formats"
	"github.com/weft-otel/weft/internal/recording/orca"
	"github.com/weft-otel/weft/internal/wording"
)

// Options are those of all sources.
type Options struct {
	Stdin       io.Reader
	Format      string
	Span        Span
	MaxUnpacked int64
}

// Gathered is the recordings that arguments name.
type Gathered struct {
	Sources []Source
	Notes   []string // about other files next to them
	Err     error    // what cannot be opened

	ctx     context.Context //nolint:containedctx // of Gather
	options *Options
	close   []func()
}

// Close closes all files. It may be called more than once, while they are read.
func (g *Gathered) Close() {
	for _, f := range g.close {
		f()
	}
}

// Gather opens files, and those in folders and archives. Other files among those are notes, unless there are only such. The caller closes them.
func Gather(ctx context.Context, names []string, o *Options) *Gathered {
	g := &Gathered{ctx: ctx, options: o}
	for _, name := range names {
		g.Err = errors.Join(g.Err, g.add(name))
	}
	return g
}

// One returns the only recording: several dumps of a JVM are one. It is nil, with an error, if there are none or several.
func (g *Gathered) One() (*Source, error) {
	joined := Join(g.Sources)
	switch {
	case len(joined) == 0:
		return nil, g.Err
	case len(joined) > 1:
		return nil, fmt.Errorf("there are %d recordings, such as %s; unpack them, and give one", len(joined), printable.Text(joined[0].Name))
	}
	return &joined[0], g.Err
}

func (g *Gathered) add(name string) error {
	if name == "-" {
		return g.standardInput()
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return reason(name, err)
	case info.IsDir():
		return g.folder(name)
	}
	file, err := g.open(name)
	if err != nil {
		return err
	}
	if inside, err := g.archive(name, file); inside || err != nil {
		return err
	}
	g.source(name, file).Path = name
	return nil
}

// standardInput adds the standard input, which may be a file.
func (g *Gathered) standardInput() error {
	const name = "standard input"
	file, ok := g.options.Stdin.(*os.File)
	if ok && isRegular(file) {
		if at, err := file.Seek(0, io.SeekCurrent); err == nil && at == 0 {
			if inside, err := g.archive(name, file); inside || err != nil {
				return err
			}
			size := (&Source{Reader: file}).Size()
			g.source(name, io.NewSectionReader(file, 0, size))
			return nil
		}
	}
	g.source(name, g.options.Stdin)
	return nil
}

func (g *Gathered) open(name string) (*os.File, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, reason(name, err)
	}
	g.close = append(g.close, func() { _ = file.Close() }) // read only
	return file, nil
}

// reason is an error about a file, without the call that failed.
func reason(name string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s: %w", printable.Text(name), err)
}

func (g *Gathered) source(name string, r io.Reader) *Source {
	o := g.options
	g.Sources = append(g.Sources, Source{Name: name, Reader: r, Format: o.Format, Span: o.Span, MaxUnpacked: o.MaxUnpacked})
	return &g.Sources[len(g.Sources)-1]
}

func (g *Gathered) limit() formats.Limit {
	return formats.Limit{Bytes: g.options.MaxUnpacked, Option: UnpackedOption}
}

// archive adds the files of an archive, and reports whether the file is one.
func (g *Gathered) archive(name string, file *os.File) (inside bool, err error) {
	if !isRegular(file) {
		return false, nil
	}
	if err := g.ctx.Err(); err != nil {
		return false, err
	}
	a, err := formats.OpenArchive(g.ctx, file, g.limit())
	if a == nil {
		return false, err
	}
	g.close = append(g.close, a.Close)
	in := g.begin(name)
	for _, f := range a.Files {
		at := name + "/" + f.Name
		if in.check(at, f) {
			g.source(at, f.SectionReader).Sidecar = a.Sidecar(f.Name)
		}
	}
	if err != nil {
		err = reason(name, err)
	}
	if len(a.Files) == 0 && err != nil {
		return true, err
	}
	return true, errors.Join(err, in.end())
}

// folder adds the files in a folder, and those in it.
func (g *Gathered) folder(name string) error {
	in := g.begin(name)
	files := 0
	err := filepath.WalkDir(name, func(at string, entry fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(entry.Name(), ".") && at != name
		switch {
		case err != nil:
			return reason(at, err)
		case hidden && entry.IsDir():
			return fs.SkipDir
		case hidden || !entry.Type().IsRegular():
			return nil
		}
		if files++; files > formats.MaxFiles {
			return fmt.Errorf("%s has more than %d files; give those that matter", printable.Text(name), formats.MaxFiles)
		}
		file, err := g.open(at)
		if err != nil {
			return err
		}
		if inside, err := g.archive(at, file); inside || err != nil {
			return err
		}
		if in.check(at, file) {
			g.source(at, file).Path = at
		}
		return nil
	})
	return errors.Join(err, in.end())
}

// among is files of a folder or archive.
type among struct {
	*Gathered

	name   string
	before int // sources
	other  []string
	others int
}

func (g *Gathered) begin(name string) *among {
	return &among{Gathered: g, name: name, before: len(g.Sources)}
}

// maxNamed bounds the files that a note names.
const maxNamed = 5

// check reports whether a file is a recording, and remembers it otherwise.
func (a *among) check(name string, file io.ReadSeeker) bool {
	if slices.Contains(orca.SideFiles(), filepath.Ext(name)) {
		return false
	}
	err := formats.Recognize(file, a.limit())
	if err == nil {
		return true
	}
	if a.others++; len(a.other) < maxNamed {
		what := "unknown"
		var foreign *formats.Foreign
		switch {
		case errors.As(err, &foreign):
			what = foreign.Is
		case !errors.Is(err, formats.ErrUnknown):
			what = err.Error()
		}
		within := strings.TrimPrefix(strings.TrimPrefix(name, a.name), string(filepath.Separator))
		a.other = append(a.other, fmt.Sprintf("%s (%s)", strings.TrimPrefix(within, "/"), what))
	}
	return false
}

// end says what was not a recording: a note if something was, otherwise an error.
func (a *among) end() error {
	list := strings.Join(a.other, ", ")
	if more := a.others - len(a.other); more > 0 {
		list += fmt.Sprintf(", and %d more", more)
	}
	switch {
	case len(a.Sources) == a.before:
		return fmt.Errorf("%s has no recording and no thread dump: %s", printable.Text(a.name), cmp.Or(printable.Text(list), "it is empty"))
	case a.others > 0:
		a.Notes = append(a.Notes, fmt.Sprintf("%s: %s read, %s not: %s", a.name, are(len(a.Sources)-a.before, "recording"), are(a.others, "other file"), list))
	}
	return nil
}

func are(n int, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return wording.Plural(n, what) + " are"
}
