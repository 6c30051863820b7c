// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package wiretext

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/threadtest/golden"
)

// vector is a file of protocol/vectors: a text, its bytes, the text that they decode to, and the reader's error if there is one.
type vector struct {
	name, text, read, fault string
	bytes                   []byte
}

func readVectors(tb testing.TB) []vector {
	tb.Helper()
	paths, err := filepath.Glob("../../../protocol/vectors/*.txt")
	require.NoError(tb, err)
	require.NotEmpty(tb, paths)
	vectors := make([]vector, 0, len(paths))
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(tb, err)
		v := vector{name: filepath.Base(path)}
		rest, fault, _ := strings.Cut(string(content), "-- error --\n")
		rest, read, _ := strings.Cut(rest, "-- read --\n")
		text, digits, _ := strings.Cut(rest, "-- hex --\n")
		v.text, v.read, v.fault = text, read, strings.TrimSpace(fault)
		v.bytes, err = hex.DecodeString(strings.Join(strings.Fields(digits), ""))
		require.NoError(tb, err, path)
		if read == "" {
			v.read = withoutComments(text)
		}
		vectors = append(vectors, v)
	}
	return vectors
}

func withoutComments(text string) string {
	var b strings.Builder
	for row := range strings.Lines(text) {
		if !strings.HasPrefix(row, "#") && !strings.HasPrefix(row, "raw") {
			b.WriteString(row)
		}
	}
	return b.String()
}

func TestVectors(t *testing.T) {
	if golden.Updating() {
		updateVectors(t)
	}
	for _, v := range readVectors(t) {
		t.Run(v.name, func(t *testing.T) {
			bytes, err := AppendStream(nil, v.text)
			require.NoError(t, err)
			assert.Equal(t, v.bytes, bytes, "text to bytes")

			text, err := AppendText(nil, v.bytes)
			assert.Equal(t, v.read, string(text), "bytes to text")
			if v.fault == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, v.fault)
			}
		})
	}
}

func updateVectors(t *testing.T) {
	t.Helper()
	for _, v := range readVectors(t) {
		stream, err := AppendStream(nil, v.text)
		require.NoError(t, err, v.name)
		out := v.text + "-- hex --\n" + layOut(stream)
		read, err := AppendText(nil, stream)
		if string(read) != withoutComments(v.text) {
			out += "-- read --\n" + string(read)
		}
		if err != nil {
			out += fmt.Sprintf("-- error --\n%v\n", err)
		}
		require.NoError(t, os.WriteFile(filepath.Join("../../../protocol/vectors", v.name), []byte(out), 0o600))
	}
}

func layOut(stream []byte) string {
	var b strings.Builder
	for len(stream) > 0 {
		n := min(32, len(stream))
		for i := 0; i < n; i += 8 {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(hex.EncodeToString(stream[i:min(i+8, n)]))
		}
		b.WriteByte('\n')
		stream = stream[n:]
	}
	return b.String()
}
