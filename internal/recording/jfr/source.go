// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package jfr

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/weft-otel/weft/internal/recording"
)

// ReadFrom reads a whole recording. A file is read where it stands; anything else goes through a temporary file, since a chunk can only be
// understood from its end.
func (d *Decoder) ReadFrom(r io.Reader) (int64, error) {
	if d.err != nil {
		return 0, d.err
	}
	if src, size, ok := seekable(r); ok && len(d.pushed.data) == 0 {
		err := d.whole(src, size)
		d.stats.Bytes += size
		return size, err
	}
	spool, err := os.CreateTemp("", "weft-*.jfr")
	if err != nil {
		return 0, fmt.Errorf("a temporary file is needed to unpack the recording: %w", err)
	}
	_ = os.Remove(spool.Name()) // so that none is left behind by a process that is killed; where that cannot be, it is done below
	defer func() {
		_ = spool.Close()           // it is not kept
		_ = os.Remove(spool.Name()) // see above
	}()
	n, size, err := d.spool(spool, r)
	d.stats.Bytes += n
	if err != nil {
		return n, err
	}
	return n, d.whole(spool, size)
}

// spool copies a recording into a file, as far as it may. It returns how much that was, and how much there is in the file.
func (d *Decoder) spool(file *os.File, r io.Reader) (n, size int64, err error) {
	front, err := file.Write(d.pushed.data) // io.Copy may have written the first bytes, since others have ideas of their own about copying
	if err != nil {
		return 0, 0, err
	}
	d.pushed.data = nil
	room := d.options.MaxUnpacked - int64(front)
	n, err = io.Copy(file, io.LimitReader(r, room))
	size = int64(front) + n
	if err != nil { // such as a broken gzip stream, or a full disk: what came is good
		d.problem(recording.Problem{Byte: size, What: err.Error(), Remedy: "what was before is read"})
		return n, size, nil
	}
	if n == room {
		if more, _ := io.ReadFull(r, make([]byte, 1)); more > 0 { // what it is does not matter
			d.problem(recording.Problem{
				Byte: size, What: fmt.Sprintf("the recording has more than %d bytes when it is unpacked; the rest is not read", d.options.MaxUnpacked),
				Remedy: "unpack it, since a plain file is read where it stands, or raise max_unpacked_size",
			})
		}
	}
	return n, size, nil
}

// seekable returns a source that can be read anywhere.
func seekable(r io.Reader) (src io.ReaderAt, size int64, ok bool) {
	src, ok = r.(io.ReaderAt)
	if !ok {
		return nil, 0, false
	}
	switch r := r.(type) {
	case interface{ Stat() (fs.FileInfo, error) }:
		info, err := r.Stat()
		return src, size + sizeOf(info, err), err == nil && info.Mode().IsRegular()
	case interface{ Size() int64 }:
		return src, r.Size(), true
	}
	return nil, 0, false
}

func sizeOf(info fs.FileInfo, err error) int64 {
	if err != nil {
		return 0
	}
	return info.Size()
}
