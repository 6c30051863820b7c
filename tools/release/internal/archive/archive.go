// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package archive answers: how do the same files become the same archive on every machine?
package archive

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// File is a file in an archive.
type File struct {
	Source string      // path on this machine
	Name   string      // in the archive, with slashes
	Mode   fs.FileMode // the rights on this machine depend on its umask
}

// Write writes a .tar.gz or .zip with the files below a folder of the same name, in the order of their names, owned by root and of
// the given time.
func Write(target string, files []File, modified time.Time) (err error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	out, err := os.Create(target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	switch base := path.Base(target); {
	case strings.HasSuffix(base, ".tar.gz"):
		compressed := gzip.NewWriter(out) // its header has no time and no name
		err := Tar(compressed, strings.TrimSuffix(base, ".tar.gz"), files, modified)
		return errors.Join(err, compressed.Close())
	case strings.HasSuffix(base, ".zip"):
		return Zip(out, strings.TrimSuffix(base, ".zip"), files, modified)
	default:
		return fmt.Errorf("%s: unknown kind of archive (want .tar.gz or .zip)", target)
	}
}

// Tar writes the files with each folder above them, in the order given.
func Tar(to io.Writer, folder string, files []File, modified time.Time) error {
	w := tar.NewWriter(to)
	folders := map[string]bool{".": true, "/": true}
	for _, f := range files {
		name := path.Join(folder, f.Name)
		if err := tarFolder(w, path.Dir(name), folders, modified); err != nil {
			return err
		}
		info, err := os.Stat(f.Source)
		if err != nil {
			return err
		}
		header := tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(f.Mode), Size: info.Size(), ModTime: modified}
		if err := w.WriteHeader(&header); err != nil {
			return err
		}
		if err := appendFile(w, f.Source); err != nil {
			return err
		}
	}
	return w.Close()
}

func tarFolder(w *tar.Writer, name string, written map[string]bool, modified time.Time) error {
	if written[name] {
		return nil
	}
	written[name] = true
	if err := tarFolder(w, path.Dir(name), written, modified); err != nil {
		return err
	}
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, ModTime: modified})
}

// Zip writes the files, in the order given, below a folder or, if that is empty, at the top.
func Zip(to io.Writer, folder string, files []File, modified time.Time) error {
	w := zip.NewWriter(to)
	for _, f := range files {
		header := zip.FileHeader{Name: path.Join(folder, f.Name), Method: zip.Deflate, Modified: modified}
		header.SetMode(f.Mode)
		entry, err := w.CreateHeader(&header)
		if err != nil {
			return err
		}
		if err := appendFile(entry, f.Source); err != nil {
			return err
		}
	}
	return w.Close()
}

func appendFile(to io.Writer, source string) error {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, in)
	return errors.Join(err, in.Close())
}
