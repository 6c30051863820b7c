// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording/formats"
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
		remedy := "give one of them"
		if joined[0].Path == "" {
			remedy = "unpack the archive, and " + remedy
		}
		return nil, fmt.Errorf("there are %d recordings, such as %s; %s", len(joined), printable.Text(joined[0].Name), remedy)
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
	return true, in.end(err)
}

// folder adds the files in a folder, and those in folders in it. Links to files are followed, those to folders are not: they may lead back.
func (g *Gathered) folder(name string) error {
	in := g.begin(name)
	files := 0
	var errs []error
	top := name + string(filepath.Separator) // also if it is a link
	err := filepath.WalkDir(top, func(at string, entry fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(filepath.Base(at), ".") && at != top
		switch {
		case hidden && entry.IsDir():
			return fs.SkipDir
		case err != nil: // the other folders may be readable
			errs = append(errs, reason(at, err))
			return nil
		case hidden:
			return nil
		case entry.Type()&fs.ModeSymlink != 0:
			info, err := os.Stat(at)
			if err != nil || !info.Mode().IsRegular() {
				in.omit(at, "a link, not to a file")
				return nil
			}
		case !entry.Type().IsRegular():
			return nil
		}
		if files++; files > formats.MaxFiles {
			return fmt.Errorf("%s has more than %d files; give those that matter", printable.Text(name), formats.MaxFiles)
		}
		errs = append(errs, in.add(at))
		return nil
	})
	return in.end(errors.Join(errors.Join(errs...), err))
}
