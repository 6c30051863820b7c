// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		{gzipped.String(), "jfr"},
		{string(encoder.EncodeAll([]byte("FLR\x00 and more"), nil)), "jfr"},
	} {
		f, r, free, err := Open(bytes.NewReader([]byte(test.data)), "")
		require.NoError(t, err)
		assert.Equal(t, test.want, f.Name)
		_, err = io.ReadAll(r)
		require.NoError(t, err)
		free()
	}
	_, _, _, err = Open(bytes.NewReader(nil), "")
	require.ErrorIs(t, err, ErrUnknown)
	_, _, _, err = Open(bytes.NewReader(gzipped.Bytes()[:5]), "")
	require.ErrorContains(t, err, "it cannot be decompressed")
	_, _, _, err = Open(bytes.NewReader(nil), "hprof")
	require.ErrorContains(t, err, `there is no format "hprof"; the formats are native, jfr, tptp, orca, triples`)
	f, _, _, err := Open(bytes.NewReader(nil), "orca")
	require.NoError(t, err)
	assert.Equal(t, "orca", f.Name)
}
