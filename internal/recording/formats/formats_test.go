// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/recording"
	"github.com/weft-otel/weft/internal/threadtest"
)

func TestOpenFindsFormatAndCompression(t *testing.T) {
	var gzipped bytes.Buffer
	z := gzip.NewWriter(&gzipped)
	_, err := z.Write([]byte("FLR\x00 and more"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	encoder, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	for _, test := range []struct {
		data string
		want string
	}{
		{"WEFT\x01\x00\x00\x00", "native"},
		{"FLR\x00 and more", "jfr"},
		{"1.5,ThreadStarted,0000000A,worker\n", "orca"},
		{"<?xml version=\"1.0\"?><TRACE>", "tptp"},
		{"2026-07-24 15:00:00\nFull thread dump OpenJDK 64-Bit Server VM (17.0.1+12 mixed mode):\n", "dump"},
		{strings.Repeat("INFO a log may have one further on\n", 200), "dump"},
		{`{"threads":[{"threadName":"main","threadId":1,"blockedTime":-1,"blockedCount":0`, "dump"},
		{strings.Repeat("[INFO] a log may have one further on\n", 200), "dump"},
		{gzipped.String(), "jfr"},
		{string(encoder.EncodeAll([]byte("FLR\x00 and more"), nil)), "jfr"},
	} {
		f, r, free, err := Open(bytes.NewReader([]byte(test.data)), "", Limit{})
		require.NoError(t, err)
		assert.Equal(t, test.want, f.Name)
		_, err = io.ReadAll(r)
		require.NoError(t, err)
		free()
	}
	_, _, _, err = Open(bytes.NewReader(nil), "", Limit{})
	require.ErrorIs(t, err, ErrEmpty)
	for text, want := range map[string]string{
		`{"timestamp":"2026-07-24T15:00:00Z","status":404,"error":"Not Found"}`: "this is an error of a server",
		"[\n {\"ph\": \"X\"}]": "this is a trace for the viewer of Chrome",
	} {
		_, _, _, err = Open(strings.NewReader(text), "", Limit{})
		require.ErrorIs(t, err, ErrUnknown)
		require.ErrorContains(t, err, want)
	}
	_, _, _, err = Open(strings.NewReader("\x7fELF"), "", Limit{})
	require.ErrorIs(t, err, ErrUnknown)
	_, _, _, err = Open(bytes.NewReader(gzipped.Bytes()[:5]), "", Limit{})
	require.EqualError(t, err, "cannot decompress beyond byte 0: the file is truncated or damaged; copy it again, in binary mode")
	_, _, _, err = Open(bytes.NewReader(nil), "hprof", Limit{})
	require.ErrorContains(t, err, `unknown format "hprof": want one of native, jfr, tptp, orca, triples`)
	f, _, _, err := Open(bytes.NewReader(nil), "orca", Limit{})
	require.NoError(t, err)
	assert.Equal(t, "orca", f.Name)
}

// The files of a rotated recording form one recording when concatenated in order. These formats have no session id.
func TestRotatedFilesConcatenate(t *testing.T) {
	for _, name := range []string{"orca", "tptp", "triples"} {
		t.Run(name, func(t *testing.T) {
			format, err := Find(name)
			require.NoError(t, err)
			events, sym := threadtest.Recorded(7, 5, 3, 3000)
			roundTrip := func(rotate bool) (texts []string) {
				session := recording.Session{ID: jvmthread.SessionID{1}}
				e := format.NewEncoder(recording.EncoderOptions{Symbols: sym, Stacks: true})
				data := e.Begin(nil, &session)
				for i, ev := range events {
					if rotate && i%1000 == 999 {
						data = e.Begin(e.End(data, nil), &session)
					}
					data = e.Batch(data, &recording.Batch{Events: []jvmthread.Event{ev}, Watermark: ev.Time})
				}
				data = e.End(data, &recording.End{})
				read := symbols.New(symbols.DefaultLimits())
				c, stats, err := threadtest.Decode(&format, recording.Options{Symbols: read}, data, 100)
				threadtest.CheckDecoded(t, name, c, stats, err)
				assert.Empty(t, c.Problems)
				assert.Len(t, c.Sessions, 1)
				for _, ev := range c.Events {
					texts = append(texts, threadtest.EventText(ev, read))
				}
				return texts
			}
			whole := roundTrip(false)
			assert.NotEmpty(t, whole)
			assert.Equal(t, whole, roundTrip(true))
		})
	}
}

func TestSidecar(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.meta"), []byte("methods"), 0o600))
	for _, name := range []string{"x.orca", "x.orca.gz", "x.orca-2026-11-21T20-43-13,496-size", "x.orca-2026-11-21T20-43-13,496-size.zst", "x.orca.1", "x.orca.12.gz"} {
		file, err := Sidecar(filepath.Join(dir, name))(".meta")
		require.NoError(t, err, name)
		text, err := io.ReadAll(file)
		require.NoError(t, errors.Join(err, file.Close()))
		assert.Equal(t, "methods", string(text))
	}
	_, err := Sidecar(filepath.Join(dir, "x.orca"))(".method")
	require.ErrorIs(t, err, fs.ErrNotExist)
}
