// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzReader: no bytes make the reader panic, and what it understands survives a turn through the text form.
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
		retold, err := AppendText(nil, again)
		require.NoError(t, err)
		assert.Equal(t, string(text), string(retold))
		assert.LessOrEqual(t, len(again), 3*len(stream), "what is replaced grows, nothing else does")
	})
}

// FuzzText: no text makes the parser panic, and what it writes, the reader reads.
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
			return // raw bytes, or what the text form can say and the protocol forbids
		}
		again, err := AppendStream(nil, string(read))
		require.NoError(t, err, "%s", read)
		retold, err := AppendText(nil, again)
		require.NoError(t, err)
		require.True(t, bytes.Equal(read, retold))
	})
}
