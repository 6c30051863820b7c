// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// asBzip2 is the first line of text in FuzzOpen: the standard library does not compress with bzip2.
const asBzip2 = "BZh91AY&SY\xf5T9`\x00\x00\x05_\x80\x08\x10\x00\x05b\x00 \x00\f\x00&H\x94\x80 \x001L\x98\x99\x06F\x142i\xe9\x1a\x18\x86" +
	"\xec\x15qP\x15A\xf2-\xd6'\xf1JD\x89M|]\xc9\x14\xe1BC\xd5P\xe5\x80"

// FuzzOpen checks that files of any content, also damaged archives and compressed ones, are unpacked within the limit.
func FuzzOpen(f *testing.F) {
	const text = "1.5,ThreadStarted,0000000A,worker\n1.6,ThreadStarted,0000000B,worker\n"
	f.Add([]byte(text))
	for _, suffix := range []string{suffixGzip, suffixZstd} {
		f.Add(compressed(f, suffix, text))
	}
	asXZ, asLZ4 := packed(f, []byte(text))
	tarred := tarOf(f)
	for _, file := range [][]byte{
		asXZ, asLZ4, []byte(asBzip2), tarred, compressed(f, suffixGzip, string(tarred)),
		zipOf(f, &zip.FileHeader{Name: "a/b.orca", Comment: inArchive, CompressedSize64: uint64(len(inArchive)), UncompressedSize64: uint64(len(inArchive))}),
		zipOf(f, &zip.FileHeader{Name: "a.orca.gz", Method: zip.Deflate, Comment: "\x03\x00"}),
	} {
		f.Add(file)
	}
	path := filepath.Join(f.TempDir(), "x")
	const most = 1 << 20
	f.Fuzz(func(t *testing.T, data []byte) {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		file, err := os.Open(path)
		require.NoError(t, err)
		defer func() { require.NoError(t, file.Close()) }()
		archive, _ := OpenArchive(t.Context(), file, Limit{Bytes: most})
		if archive == nil {
			unpackedWithin(t, file, max(most, int64(len(data))))
			return
		}
		defer archive.Close()
		sum := int64(0)
		for _, packed := range archive.Files {
			sum += packed.Size()
			unpackedWithin(t, packed, most)
		}
		if sum > most || len(archive.Files) > MaxFiles {
			t.Errorf("%d files, %d bytes", len(archive.Files), sum)
		}
	})
}

// unpackedWithin reads what a file contains.
func unpackedWithin(t *testing.T, file io.ReadSeeker, most int64) {
	t.Helper()
	_, r, free, err := Open(file, "", Limit{Bytes: most})
	if err != nil {
		return
	}
	defer free()
	if n, _ := io.Copy(io.Discard, r); n > most { // damage is reported
		t.Errorf("%d bytes", n)
	}
}

func compressed(t testing.TB, suffix, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := Compress(&b, suffix)
	require.NoError(t, err)
	_, err = io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}
