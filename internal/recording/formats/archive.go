// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/weft-otel/weft/internal/recording"
)

// MaxFiles bounds the files of an archive or a folder.
const MaxFiles = 1000

const (
	headOfZip   = "PK\x03\x04"
	emptyZip    = "PK\x05\x06"
	magicOfTar  = "ustar"
	offsetOfTar = 257
)

func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte(headOfZip)) || bytes.HasPrefix(head, []byte(emptyZip))
}

func isTar(head []byte) bool {
	return len(head) > offsetOfTar && bytes.HasPrefix(head[offsetOfTar:], []byte(magicOfTar))
}

// Archive is an archive whose files are unpacked to a temporary file, for random access.
type Archive struct {
	Files []Packed
	free  func()
}

// Packed is a file of an archive.
type Packed struct {
	*io.SectionReader

	Name string // with folders
}

// Close removes the temporary file.
func (a *Archive) Close() { a.free() }

// Sidecar is Sidecar for a file of the archive.
func (a *Archive) Sidecar(name string) func(extension string) (io.ReadCloser, error) {
	return func(extension string) (io.ReadCloser, error) {
		want := SidecarPath(name, extension)
		i := slices.IndexFunc(a.Files, func(f Packed) bool { return f.Name == want })
		if i < 0 {
			return nil, fs.ErrNotExist
		}
		return io.NopCloser(io.NewSectionReader(a.Files[i], 0, a.Files[i].Size())), nil
	}
}

// OpenArchive unpacks a zip or tar archive, the latter also compressed. It returns nil for another file, which is then at its start. With an
// error, the archive has what precedes the limit, damage, or the end of the context.
func OpenArchive(ctx context.Context, file *os.File, limit Limit) (_ *Archive, err error) {
	if limit.Bytes <= 0 {
		limit.Bytes = recording.DefaultMaxUnpacked
	}
	head := make([]byte, recording.HeadSize)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	head = head[:n]
	if isJar(head) {
		return nil, rewind(file)
	}
	u := unpacking{ctx: ctx, limit: limit}
	unpack := func() error { return u.zip(file) }
	if !isZip(head) {
		r, head, free, err := plain(file, head, limit)
		if err != nil {
			return nil, rewind(file) // opening it reports the error again
		}
		defer free()
		if !isTar(head) {
			return nil, rewind(file)
		}
		unpack = func() error { return u.tar(r) }
	}
	spool, release, err := recording.Spool()
	if err != nil {
		return nil, err
	}
	u.spool = spool
	err = unpack()
	return &Archive{Files: u.files, free: release}, err
}

func rewind(file io.Seeker) error {
	_, err := file.Seek(0, io.SeekStart)
	return err
}

// unpacking is an archive that is being unpacked.
type unpacking struct {
	ctx   context.Context //nolint:containedctx // of one call
	limit Limit
	spool *os.File
	files []Packed
	size  int64 // of the spool
}

func (u *unpacking) zip(file *os.File) error {
	const damaged = "the zip archive is truncated or damaged; copy it again, in binary mode"
	info, err := file.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(file, info.Size())
	if err != nil && (z == nil || !errors.Is(err, zip.ErrInsecurePath)) { // names are not used as paths
		return errors.New(damaged)
	}
	for _, f := range z.File {
		if !f.Mode().IsRegular() {
			continue
		}
		const encrypted = 1
		if f.Flags&encrypted != 0 {
			return errors.New("the zip archive is encrypted; unpack it, and give the files in it")
		}
		r, err := f.Open()
		if errors.Is(err, zip.ErrAlgorithm) {
			return fmt.Errorf("the zip archive compresses %s by unknown method %d; unpack it, and give the files in it", f.Name, f.Method)
		}
		if err == nil {
			err = u.add(f.Name, r, damaged)
			_ = r.Close() // only read
		} else {
			err = errors.New(damaged)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacking) tar(r io.Reader) error {
	const damaged = "the tar archive is truncated or damaged; copy it again, in binary mode"
	t := tar.NewReader(r)
	for {
		header, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // names are not used as paths
			return errors.New(damaged)
		case header.Typeflag != tar.TypeReg:
			continue
		}
		if err := u.add(header.Name, t, damaged); err != nil {
			return err
		}
	}
}

// add unpacks a file.
func (u *unpacking) add(name string, r io.Reader, damaged string) error {
	if isHidden(name) {
		return nil
	}
	if len(u.files) >= MaxFiles {
		return fmt.Errorf("the archive has more than %d files; unpack it, and give those that matter", MaxFiles)
	}
	room := u.limit.Bytes - u.size
	n, err := io.Copy(u, io.LimitReader(r, room+1))
	switch {
	case u.ctx.Err() != nil:
		return u.ctx.Err()
	case n > room:
		return u.limit.exceeded("the archive")
	}
	u.files = append(u.files, Packed{io.NewSectionReader(u.spool, u.size, n), path.Clean(name)})
	u.size += n
	var local *os.PathError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &local): // of the temporary file, such as a full disk
		return err
	}
	return errors.New(damaged)
}

// Write writes to the spool until the context ends.
func (u *unpacking) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.spool.Write(p)
}

// isHidden reports whether a file is one that systems add, such as __MACOSX/._x.
func isHidden(name string) bool { return strings.HasPrefix(path.Base(name), ".") }
