// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"
)

// gzipBomb returns about 10 GiB of a byte in 10 MB.
func gzipBomb(t *testing.T, content string) io.Reader {
	t.Helper()
	var first, member bytes.Buffer
	compress := func(to *bytes.Buffer, data []byte) {
		z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
		require.NoError(t, err)
		_, err = z.Write(data)
		require.NoError(t, err)
		require.NoError(t, z.Close())
	}
	compress(&first, []byte(content))
	compress(&member, make([]byte, 64<<20))
	members := []io.Reader{&first}
	for range 160 {
		members = append(members, bytes.NewReader(member.Bytes()))
	}
	return io.MultiReader(members...)
}

const magicZstd = "\x28\xb5\x2f\xfd"

// zstdFrame returns the start of a frame that needs a window of 1 KiB << log.
func zstdFrame(log int) string { return magicZstd + "\x00" + string([]byte{byte(log << 3)}) }

// zstdBomb returns 10 GiB of zeros in 320 KB: blocks that repeat a byte 128 Ki times.
func zstdBomb(log int) io.Reader {
	const repeated = 1 << 1
	header := 128<<10<<3 | repeated
	block := string([]byte{byte(header), byte(header >> 8), byte(header >> 16), 0})
	return strings.NewReader(zstdFrame(log) + strings.Repeat(block, 10<<13))
}

// allocated returns what a function allocates, which is more than it holds at any time.
func allocated(run func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

func TestBombsEndAtTheLimit(t *testing.T) {
	limit := Limit{Bytes: 256 << 20, Option: "max_unpacked_size"}
	const tooLarge = "the file has more than 268435456 bytes uncompressed; decompress it before, or raise max_unpacked_size"
	for _, test := range []struct {
		name   string
		bomb   io.Reader
		want   string
		bytes  int64
		memory int64 // MiB
	}{
		{"gzip", gzipBomb(t, "WEFT"), tooLarge, limit.Bytes, 1},
		{"zstd", zstdBomb(10), tooLarge, limit.Bytes, 8},
		{"zstd with the largest window", zstdBomb(17), tooLarge, limit.Bytes, 136},
		{
			"zstd with a larger window", zstdBomb(18),
			"cannot decompress beyond byte 0: it takes more than 128 MiB of memory; decompress it before, with zstd -d --long=31 or xz -d",
			0, 1,
		},
		{
			"zstd with a huge window", zstdBomb(31),
			"cannot decompress beyond byte 0: it takes more than 128 MiB of memory; decompress it before, with zstd -d --long=31 or xz -d",
			0, 1,
		},
		{
			"zstd with one huge segment", strings.NewReader(magicZstd + "\xe0" + strings.Repeat("\xff", 8) + "\x03\x00\x10\x00"),
			"cannot decompress beyond byte 0: it takes more than 128 MiB of memory", 0, 1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var n int64
			memory := allocated(func() {
				r, free, err := Decompress(test.bomb, limit)
				require.NoError(t, err)
				defer free()
				n, err = io.Copy(io.Discard, struct{ io.Reader }{r})
				require.ErrorContains(t, err, test.want)
			})
			assert.Equal(t, test.bytes, n)
			assert.Less(t, memory>>20, test.memory, "MiB")
		})
	}
}

// packed returns data as xz and lz4 compress it.
func packed(t testing.TB, data []byte) (asXZ, asLZ4 []byte) {
	t.Helper()
	var x, l bytes.Buffer
	toXZ, err := xz.NewWriter(&x)
	require.NoError(t, err)
	toLZ4 := lz4.NewWriter(&l)
	require.NoError(t, toLZ4.Apply(lz4.BlockSizeOption(lz4.Block64Kb)))
	for _, w := range []io.WriteCloser{toXZ, toLZ4} {
		_, err = w.Write(data)
		require.NoError(t, err)
		require.NoError(t, w.Close())
	}
	return x.Bytes(), l.Bytes()
}

func TestOtherBombsEndAtTheLimit(t *testing.T) {
	asXZ, asLZ4 := packed(t, make([]byte, 2<<20))
	for name, file := range map[string][]byte{"xz": asXZ, "lz4": asLZ4} {
		r, free, err := Decompress(bytes.NewReader(file), Limit{Bytes: 1 << 20})
		require.NoError(t, err)
		n, err := io.Copy(io.Discard, struct{ io.Reader }{r})
		require.EqualError(t, err, "the file has more than 1048576 bytes uncompressed; decompress it before", name)
		assert.EqualValues(t, 1<<20, n)
		free()
	}
}

func TestWindowsOfXZ(t *testing.T) {
	file, _ := packed(t, []byte("WEFT"))
	const block, window, sum = 12, 16, 20
	for code, want := range map[byte]string{30: "", 31: "cannot decompress beyond byte 0: it takes more than 128 MiB of memory; "} { // 128 and 192 MiB
		file[window] = code
		binary.LittleEndian.PutUint32(file[sum:], crc32.ChecksumIEEE(file[block:sum]))
		_, _, err := Decompress(bytes.NewReader(file), Limit{})
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}

func TestAFileOfExactlyTheLimitIsRead(t *testing.T) {
	var file bytes.Buffer
	z, err := zstd.NewWriter(&file)
	require.NoError(t, err)
	_, err = z.Write(make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	r, free, err := Decompress(&file, Limit{Bytes: 1 << 20})
	require.NoError(t, err)
	defer free()
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Len(t, data, 1<<20)
}

func TestNestedFilesAreNotUnpackedAgain(t *testing.T) {
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	_, err := io.Copy(z, zstdBomb(10))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	_, _, _, err = Open(bytes.NewReader(file.Bytes()), "", Limit{})
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorContains(t, err, "compressed more than once; decompress it before")
}

// What precedes damage is read, whatever the damage.
func TestDamagedFilesAreReadUpToTheDamage(t *testing.T) {
	var plain []byte
	for i := range 100_000 {
		plain = fmt.Appendf(plain, "%d.001,ThreadStarted,%08X,worker\n", i, i*i)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write(plain)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	encoder, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	asXZ, asLZ4 := packed(t, plain)
	for name, file := range map[string][]byte{"gzip": zipped.Bytes(), "zstd": encoder.EncodeAll(plain, nil), "xz": asXZ, "lz4": asLZ4} {
		for _, damage := range []struct {
			name string
			do   func([]byte) []byte
		}{
			{"truncated", func(b []byte) []byte { return b[:len(b)/2] }},
			{"corrupt", func(b []byte) []byte {
				return append(append(b[:len(b)*3/4:len(b)*3/4], bytes.Repeat([]byte{0xff}, 64)...), b[len(b)*3/4+64:]...)
			}},
			{"wrong sum", func(b []byte) []byte { return append(b[:len(b)-1:len(b)-1], b[len(b)-1]^1) }},
		} {
			t.Run(name+" "+damage.name, func(t *testing.T) {
				r, free, err := Decompress(bytes.NewReader(damage.do(file)), Limit{})
				require.NoError(t, err)
				defer free()
				data, err := io.ReadAll(r)
				require.ErrorContains(t, err, "the file is truncated or damaged")
				require.ErrorContains(t, err, "cannot decompress beyond byte ")
				assert.True(t, bytes.HasPrefix(plain, data) || damage.name == "corrupt", "%d bytes", len(data))
				assert.Greater(t, len(data), len(plain)/4)
			})
		}
	}
}
