// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wiretext

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/wire"
)

func TestIndexRoundTrip(t *testing.T) {
	for _, text := range []string{
		"index at=0 before=0\n",
		"index at=900 before=17 entries=8:40:-5:7,300:300:8:9223372036854775807\n",
	} {
		stream, err := AppendStream(nil, text)
		require.NoError(t, err)
		frame, err := wire.NewReader(bytes.NewReader(stream), wire.MaxFrame).Next()
		require.NoError(t, err)
		assert.Equal(t, wire.FrameIndex, frame.Kind)
		got, err := AppendText(nil, stream)
		require.NoError(t, err)
		assert.Equal(t, text, string(got))
		assert.Equal(t, frame.Payload[len(frame.Payload)-8:], stream[len(stream)-8:], "the last field is the index's own offset")
	}
	_, err := AppendStream(nil, "index entries=1:2")
	require.ErrorContains(t, err, `invalid entry "1:2" (want definitions:batch:time:until)`)
	var index wire.Index
	require.ErrorContains(t, wire.Frame{Kind: wire.FrameIndex, Payload: []byte{9, 0, 0, 0}}.Index(&index), "9 entries need 288 bytes, have 0")
}
