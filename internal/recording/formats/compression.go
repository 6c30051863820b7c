// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/weft-otel/weft/internal/recording"
)

// Signatures of compressed files.
const (
	magicGzip = "\x1f\x8b"
	magicZstd = "\x28\xb5\x2f\xfd"
)

// Compressed reports whether a file that starts with head is compressed.
func Compressed(head []byte) bool {
	return strings.HasPrefix(string(head), magicGzip) || strings.HasPrefix(string(head), magicZstd)
}

// Suffixes of compressed files.
const (
	suffixGzip = ".gz"
	suffixZstd = ".zst"
)

// CutCompression separates the suffix of a compressed file from its path; it is empty if the file is not compressed, judging by its name.
func CutCompression(path string) (plain, suffix string) {
	for _, suffix := range [...]string{suffixGzip, suffixZstd} {
		if plain, ok := strings.CutSuffix(path, suffix); ok {
			return plain, suffix
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
	return nil, fmt.Errorf("unknown compression %q: want %s or %s", suffix, suffixGzip, suffixZstd)
}

type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }

// maxWindow limits the memory that a zstd file can request: what zstd --long writes, and zstd -d reads without an option.
const maxWindow = 128 << 20

// Limit bounds what a compressed file unpacks to. A megabyte of gzip may stand for a gigabyte, one of zstd for 32.
type Limit struct {
	Bytes  int64  // 0: recording.DefaultMaxUnpacked
	Option string // that raises it, as users write it; empty: there is none
}

// Decompress returns a reader of the contents of a compressed file. It returns all that precedes the limit or damage, and then an error with
// the position in the contents and a remedy. The caller calls free after use.
func Decompress(r io.Reader, limit Limit) (_ io.Reader, free func(), err error) {
	if limit.Bytes <= 0 {
		limit.Bytes = recording.DefaultMaxUnpacked
	}
	buffered := bufio.NewReaderSize(r, 1<<16)
	head, err := buffered.Peek(len(magicZstd))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if strings.HasPrefix(string(head), magicGzip) {
		z, err := gzip.NewReader(buffered)
		return &unpacked{from: z, limit: limit}, func() {}, err
	}
	z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow))
	if err != nil {
		return nil, nil, err
	}
	return &unpacked{from: z, limit: limit}, z.Close, nil
}

// unpacked reads the contents of a compressed file up to a limit.
type unpacked struct {
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
		return 0, u.tooLarge()
	}
	u.n += int64(n)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return n, fmt.Errorf("cannot decompress beyond byte %d: it takes more than %d MiB of memory; decompress it before, with zstd -d --long=31: %w",
			u.n, maxWindow>>20, err)
	}
	return n, fmt.Errorf("cannot decompress beyond byte %d: the file is truncated or damaged: %w", u.n, err)
}

func (u *unpacked) tooLarge() error {
	remedy := "decompress it before"
	if u.limit.Option != "" {
		remedy += ", or raise " + u.limit.Option
	}
	return fmt.Errorf("the file has more than %d bytes uncompressed; %s", u.limit.Bytes, remedy)
}
