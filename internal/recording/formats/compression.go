// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"github.com/weft-otel/weft/internal/recording"
)

// compression is a way to compress a file.
type compression struct {
	suffix string
	magic  string // the first bytes
	unpack func(*bufio.Reader) (_ io.Reader, free func(), err error)
}

// Suffixes of files that Compress writes.
const (
	suffixGzip = ".gz"
	suffixZstd = ".zst"
)

func compressions() []compression {
	return []compression{
		{suffixGzip, "\x1f\x8b", func(r *bufio.Reader) (io.Reader, func(), error) {
			z, err := gzip.NewReader(r)
			return z, nil, err
		}},
		{suffixZstd, "\x28\xb5\x2f\xfd", func(r *bufio.Reader) (io.Reader, func(), error) {
			z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow))
			if err != nil {
				return nil, nil, err
			}
			return z, z.Close, nil
		}},
		{".lz4", "\x04\x22\x4d\x18", unpackLZ4},
		{".lz4", "\x02\x21\x4c\x18", unpackLZ4}, // lz4 -l
		{".xz", "\xfd7zXZ\x00", unpackXZ},
		{".bz2", "BZh", func(r *bufio.Reader) (io.Reader, func(), error) { return bzip2.NewReader(r), nil, nil }},
	}
}

// compressionOf returns how a file that starts with head is compressed; nil: it is not.
func compressionOf(head []byte) *compression {
	all := compressions()
	for i := range all {
		if strings.HasPrefix(string(head), all[i].magic) {
			return &all[i]
		}
	}
	return nil
}

// Compressed reports whether a file that starts with head is compressed.
func Compressed(head []byte) bool { return compressionOf(head) != nil }

// CutCompression separates the suffix of a compressed file from its path; it is empty if the file is not compressed, judging by its name.
func CutCompression(path string) (plain, suffix string) {
	for _, c := range compressions() {
		if plain, ok := strings.CutSuffix(path, c.suffix); ok {
			return plain, c.suffix
		}
	}
	return path, ""
}

// Compress returns a writer that compresses to w as the suffix of a file says, see CutCompression. Closing it does not close w.
func Compress(w io.Writer, suffix string) (io.WriteCloser, error) {
	switch suffix {
	case "":
		return plainWriter{w}, nil
	case suffixGzip:
		return gzip.NewWriter(w), nil
	case suffixZstd:
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}
	return nil, fmt.Errorf("cannot write files compressed as %s: want %s or %s", suffix, suffixGzip, suffixZstd)
}

type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }

func unpackLZ4(r *bufio.Reader) (io.Reader, func(), error) { return lz4.NewReader(r), nil, nil }

// maxWindow limits the memory that a compressed file can request: what zstd --long writes, and zstd -d reads without an option. xz -9 needs half.
const maxWindow = 128 << 20

var errWindow = errors.New("the window is too large")

// unpackXZ checks the window of the first block. Later blocks of a file that lies may have larger ones, of which no more memory is used than
// they unpack to.
func unpackXZ(r *bufio.Reader) (io.Reader, func(), error) {
	const header, flags, packedSize, size, lzma2 = 12, 1, 0x40, 0x80, 0x21
	head, _ := r.Peek(header + 32)
	if len(head) > header+flags {
		block := head[header+flags:]
		skip := 1
		for _, has := range []byte{packedSize, size} {
			for more := block[0]&has != 0; more && skip < len(block); skip++ {
				more = block[skip]&0x80 != 0
			}
		}
		if filter := block[min(skip, len(block)):]; len(filter) > 2 && filter[0] == lzma2 {
			if window, err := lzma.DecodeDictCap(filter[2]); err == nil && window > maxWindow {
				return nil, nil, errWindow
			}
		}
	}
	z, err := xz.NewReader(r)
	return z, nil, err
}

// Limit bounds what a file unpacks to. A megabyte of gzip may stand for a gigabyte, one of zstd for 32.
type Limit struct {
	Bytes  int64  // of all that a file unpacks to; 0: recording.DefaultMaxUnpacked
	Option string // that raises it, as users write it; empty: there is none
}

// Decompress returns a reader of the contents of a compressed file. It returns all that precedes the limit or damage, and then an error with
// the position in the contents and a remedy. The caller calls free after use.
func Decompress(r io.Reader, limit Limit) (_ io.Reader, free func(), err error) {
	if limit.Bytes <= 0 {
		limit.Bytes = recording.DefaultMaxUnpacked
	}
	u := &unpacked{file: source{Reader: r}, limit: limit}
	buffered := bufio.NewReaderSize(&u.file, 1<<16)
	head, _ := buffered.Peek(8) // reading reports the error again
	c := compressionOf(head)
	if c == nil {
		return nil, nil, errors.Join(errors.New("the file is not compressed"), u.file.err)
	}
	if u.from, free, err = c.unpack(buffered); err != nil {
		return nil, nil, u.reason(err)
	}
	if free == nil {
		free = func() {}
	}
	return u, free, nil
}

// source remembers why a file cannot be read.
type source struct {
	io.Reader

	err error // other than io.EOF
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// unpacked reads the contents of a compressed file up to a limit.
type unpacked struct {
	file  source
	from  io.Reader
	limit Limit
	n     int64 // bytes read
}

// Read implements io.Reader.
func (u *unpacked) Read(p []byte) (n int, err error) {
	room := u.limit.Bytes - u.n
	if int64(len(p)) > room {
		p = p[:max(room, 1)] // a byte beyond shows whether there is more
	}
	if n, err = u.from.Read(p); room == 0 && n > 0 {
		return 0, u.limit.exceeded("the file")
	}
	u.n += int64(n)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	return n, u.reason(err)
}

// reason says why the rest cannot be read, without the words of the library.
func (u *unpacked) reason(err error) error {
	switch {
	case u.file.err != nil:
		return u.file.err
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, errWindow):
		return fmt.Errorf("cannot decompress beyond byte %d: it takes more than %d MiB of memory; decompress it before, with zstd -d --long=31 or xz -d",
			u.n, maxWindow>>20)
	}
	return fmt.Errorf("cannot decompress beyond byte %d: the file is truncated or damaged; copy it again, in binary mode", u.n)
}

// exceeded says that something unpacks to more than the limit.
func (l Limit) exceeded(what string) error {
	remedy := "decompress it before"
	if l.Option != "" {
		remedy += ", or raise " + l.Option
	}
	return fmt.Errorf("%s has more than %d bytes uncompressed; %s", what, l.Bytes, remedy)
}
