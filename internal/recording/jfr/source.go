// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/weft-otel/weft/internal/recording"
)

// ReadFrom reads a complete recording. Files are read in place, anything else through a temporary file, since the metadata of a chunk may be at
// its end.
func (d *Decoder) ReadFrom(r io.Reader) (int64, error) {
	if err := d.Err(); err != nil {
		return 0, err
	}
	if src, size, ok := seekable(r); ok && len(d.pushed.data) == 0 {
		err := d.whole(src, size)
		d.Counts.Bytes += size
		return size, err
	}
	spool, release, err := recording.Spool()
	if err != nil {
		return 0, err
	}
	defer release()
	n, size, err := d.spool(spool, r)
	d.Counts.Bytes += n
	if err != nil {
		return n, err
	}
	return n, d.whole(spool, size)
}

// spool copies a recording to a file, up to Options.MaxUnpacked. It returns the number of bytes read and the size of the file.
func (d *Decoder) spool(file *os.File, r io.Reader) (n, size int64, err error) {
	front, err := file.Write(d.pushed.data) // the first bytes may have been written before ReadFrom
	if err != nil {
		return 0, 0, err
	}
	d.pushed.data = nil
	room := d.Options.MaxUnpacked - int64(front)
	n, err = io.Copy(file, io.LimitReader(r, room))
	size = int64(front) + n
	if err != nil { // such as a malformed gzip stream or a full disk
		d.ReportAt(size, err.Error(), readingBefore)
		return n, size, nil
	}
	if n == room {
		more, err := io.ReadFull(r, make([]byte, 1))
		switch {
		case more > 0:
			d.ReportAt(size, fmt.Sprintf("the recording has more than %d bytes; skipping the rest", d.Options.MaxUnpacked),
				"read it from a plain file, which is read in place, or raise "+d.Options.UnpackedOption)
		case !errors.Is(err, io.EOF):
			d.ReportAt(size, err.Error(), readingBefore)
		}
	}
	return n, size, nil
}

// seekable returns a source with random access.
func seekable(r io.Reader) (src io.ReaderAt, size int64, ok bool) {
	src, ok = r.(io.ReaderAt)
	switch r := r.(type) {
	case interface{ Stat() (fs.FileInfo, error) }:
		if info, err := r.Stat(); err == nil && info.Mode().IsRegular() {
			return src, info.Size(), ok
		}
	case interface{ Size() int64 }:
		return src, r.Size(), ok
	}
	return nil, 0, false
}
