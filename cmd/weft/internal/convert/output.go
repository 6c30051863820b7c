// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/weft-otel/weft/internal/printable"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/recording/formats"
)

// temporary is a file that is renamed when it is complete.
type temporary interface {
	io.WriteCloser
	Name() string
	Sync() error
}

// creator creates a temporary file next to a path.
type creator func(path string) (temporary, error)

func create(path string) (temporary, error) {
	return os.CreateTemp(filepath.Dir(path), ".weft-*")
}

// output is the file that is written, and those that accompany it.
type output struct {
	path   string
	force  bool
	create creator
	file   temporary
	buffer *bufio.Writer
	packed io.WriteCloser       // into buffer
	sides  map[string]temporary // by path
	made   []temporary          // all that were created and not renamed
}

// newOutput creates the temporary file of an output.
func newOutput(req *Request, create creator) (*output, error) {
	o := &output{path: req.Out, force: req.Overwrite, create: create, sides: make(map[string]temporary)}
	if target, err := filepath.EvalSymlinks(req.Out); err == nil {
		o.path = target // what the link leads to is replaced, not the link
	}
	if err := o.free(o.path); err != nil {
		return nil, err
	}
	file, err := o.open(o.path)
	if err != nil {
		return nil, err
	}
	o.file, o.buffer = file, bufio.NewWriterSize(file, 1<<16)
	_, suffix := formats.CutCompression(req.Out)
	if o.packed, err = formats.Compress(o.buffer, suffix); err != nil {
		o.abort()
		return nil, err
	}
	return o, nil
}

// free reports an error if a file may not be replaced.
func (o *output) free(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", printable.Text(path), reason(err))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file; use another name", printable.Text(path))
	case !o.force:
		return fmt.Errorf("%s exists; use another name, or replace it with %s", printable.Text(path), optionForce)
	}
	return nil
}

func (o *output) open(path string) (temporary, error) {
	file, err := o.create(path)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", printable.Text(path), reason(err))
	}
	o.made = append(o.made, file)
	return file, nil
}

// Write writes to the file, compressed if its name says so.
func (o *output) Write(p []byte) (int, error) { return o.packed.Write(p) }

// writeSides writes files that accompany the recording.
func (o *output) writeSides(sides []recording.Sidecar) error {
	for _, s := range sides {
		path := formats.SidecarPath(o.path, s.Extension)
		if path == o.path {
			return fmt.Errorf("a file that accompanies the recording has the same name; use a suffix other than %s", s.Extension)
		}
		file := o.sides[path]
		if file == nil {
			if err := o.free(path); err != nil {
				return err
			}
			var err error
			if file, err = o.open(path); err != nil {
				return err
			}
			o.sides[path] = file
		}
		if _, err := file.Write(s.Text); err != nil {
			return err
		}
	}
	return nil
}

// commit gives all files their names: those that accompany the recording first. It returns the names.
func (o *output) commit() (files []string, err error) {
	if err := errors.Join(o.packed.Close(), o.buffer.Flush()); err != nil {
		return nil, reason(err)
	}
	for _, file := range o.made {
		if err := errors.Join(file.Sync(), file.Close()); err != nil {
			return nil, reason(err)
		}
	}
	paths := map[temporary]string{o.file: o.path}
	for path, file := range o.sides {
		paths[file] = path
	}
	for _, file := range o.made { // others may have been created meanwhile
		if err := o.free(paths[file]); err != nil {
			return nil, err
		}
	}
	for i, file := range slices.Backward(o.made) {
		path := paths[file]
		if err := os.Rename(file.Name(), path); err != nil {
			return nil, err
		}
		files = append([]string{path}, files...)
		o.made = o.made[:i]
	}
	return files, nil
}

// abort removes what was not committed.
func (o *output) abort() {
	if o.packed != nil && len(o.made) > 0 {
		_ = o.packed.Close() // frees memory; the file is removed
	}
	for _, file := range o.made {
		_ = file.Close() // the same
		_ = os.Remove(file.Name())
	}
	o.made = nil
}

// reason returns an error without the path, which the caller adds.
func reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
