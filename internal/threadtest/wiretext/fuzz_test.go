// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wiretext

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzReader checks that the reader never panics, and that the frames it decodes survive a round trip through the text form.
func FuzzReader(f *testing.F) {
	for _, v := range readVectors(f) {
		f.Add(v.bytes)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		text, err := AppendText(nil, stream)
		if err != nil {
			assert.NotEmpty(t, err.Error())
		}
		again, err := AppendStream(nil, string(text))
		require.NoError(t, err, "%s", text)
		reread, err := AppendText(nil, again)
		require.NoError(t, err)
		assert.Equal(t, string(text), string(reread))
		assert.LessOrEqual(t, len(again), 3*len(stream), "only replaced characters take more bytes")
	})
}

// FuzzText checks that the parser never panics, and that the reader reads what the parser writes.
func FuzzText(f *testing.F) {
	for _, v := range readVectors(f) {
		f.Add(v.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		stream, err := AppendStream(nil, text)
		if err != nil {
			assert.NotEmpty(t, err.Error())
			return
		}
		read, err := AppendText(nil, stream)
		if err != nil {
			return // raw bytes, or values that the text form can express but the protocol forbids
		}
		again, err := AppendStream(nil, string(read))
		require.NoError(t, err, "%s", read)
		reread, err := AppendText(nil, again)
		require.NoError(t, err)
		require.True(t, bytes.Equal(read, reread))
	})
}
