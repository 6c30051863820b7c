// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	inArchive = "1.5,ThreadStarted,0000000A,worker\n"
	besideIt  = "1 a.b.C\n"
)

func zipOf(t testing.TB, headers ...*zip.FileHeader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, h := range headers {
		w, err := z.CreateRaw(h)
		require.NoError(t, err)
		_, err = w.Write([]byte(h.Comment))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

func tarOf(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []*tar.Header{
		{Name: "logs/", Typeflag: tar.TypeDir},
		{Name: "logs/a.orca", Size: int64(len(inArchive)), Typeflag: tar.TypeReg},
		{Name: "logs/b.orca", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink},
		{Name: "../logs/../logs/a.method", Size: int64(len(besideIt)), Typeflag: tar.TypeReg},
	} {
		h.Format = tar.FormatUSTAR
		require.NoError(t, w.WriteHeader(h))
		if h.Size > 0 {
			_, err := io.WriteString(w, map[bool]string{true: inArchive, false: besideIt}[h.Name == "logs/a.orca"])
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func openArchive(t *testing.T, data []byte, limit Limit) (*Archive, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	file, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	a, err := OpenArchive(t.Context(), file, limit)
	if a != nil {
		t.Cleanup(a.Close)
	}
	return a, err
}

func TestFilesOfATar(t *testing.T) {
	a, err := openArchive(t, tarOf(t), Limit{})
	require.NoError(t, err)
	require.Len(t, a.Files, 2)
	assert.Equal(t, "logs/a.orca", a.Files[0].Name)
	require.NoError(t, Recognize(a.Files[0], Limit{}))
	for range 2 {
		text, err := io.ReadAll(io.NewSectionReader(a.Files[0], 0, a.Files[0].Size()))
		require.NoError(t, err)
		assert.Equal(t, inArchive, string(text))
	}
	_, err = a.Sidecar("logs/a.orca")(".meta")
	require.ErrorIs(t, err, os.ErrNotExist)
	side, err := a.Sidecar("../logs/a.orca")(".method")
	require.NoError(t, err)
	text, err := io.ReadAll(side)
	require.NoError(t, err)
	assert.Equal(t, besideIt, string(text))
}

func TestArchivesThatCannotBeUnpacked(t *testing.T) {
	short := []byte(inArchive)
	whole := tarOf(t)
	for name, test := range map[string]struct {
		data  []byte
		limit Limit
		want  string
		files int
	}{
		"encrypted":   {zipOf(t, &zip.FileHeader{Name: "a", Flags: 1}), Limit{}, "the zip archive is encrypted; unpack it, and give the files in it", 0},
		"deflate64":   {zipOf(t, &zip.FileHeader{Name: "a", Method: 9}), Limit{}, "the zip archive compresses a by unknown method 9; unpack it, and give the files in it", 0},
		"wrong sum":   {zipOf(t, &zip.FileHeader{Name: "a", Comment: inArchive, CRC32: 1, CompressedSize64: uint64(len(short)), UncompressedSize64: uint64(len(short))}), Limit{}, "the zip archive is truncated or damaged; copy it again, in binary mode", 1},
		"half a tar":  {whole[:2000], Limit{}, "the tar archive is truncated or damaged; copy it again, in binary mode", 1},
		"a large tar": {whole, Limit{Bytes: int64(len(inArchive)), Option: "--max"}, "the archive has more than 34 bytes uncompressed; decompress it before, or raise --max", 1},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := openArchive(t, test.data, test.limit)
			require.EqualError(t, err, test.want)
			assert.Len(t, a.Files, test.files)
		})
	}
}

func TestUnpackingEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, tarOf(t), 0o600))
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	ctx, end := context.WithCancel(t.Context())
	end()
	a, err := OpenArchive(ctx, file, Limit{})
	require.ErrorIs(t, err, context.Canceled)
	assert.Empty(t, a.Files)
	a.Close()
}

func TestOtherFilesAreNoArchives(t *testing.T) {
	for _, data := range []string{"", inArchive, "\x1f\x8b"} {
		a, err := openArchive(t, []byte(data), Limit{})
		require.NoError(t, err)
		assert.Nil(t, a)
	}
}
