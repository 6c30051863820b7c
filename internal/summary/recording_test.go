// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The recording is that of a program with 50 notifies, each of which ends a wait.
func TestSummaryOfARecording(t *testing.T) {
	for _, name := range []string{"notifies-jdk17", "notifies-jdk25"} {
		t.Run(name, func(t *testing.T) { summarize(t, name) })
	}
}

func summarize(t *testing.T, name string) {
	t.Helper()
	f, err := os.Open("../jfr/testdata/" + name + ".jfr.gz")
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	compressed, err := Read(Source{Name: name, Reader: f})
	require.NoError(t, err)
	_, err = f.Seek(0, io.SeekStart)
	require.NoError(t, err)
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	data, err := io.ReadAll(z)
	require.NoError(t, err)
	plain, err := Read(Source{Name: name, Reader: bytes.NewReader(data)})
	require.NoError(t, err)
	assert.Equal(t, plain, compressed)
	piped, err := Read(Source{Name: name, Reader: struct{ io.Reader }{bytes.NewReader(data)}})
	require.NoError(t, err)
	assert.Equal(t, plain, piped)

	assert.Equal(t, []string{"Notifies"}, plain.Services)
	for _, l := range plain.Locks {
		if l.Class == "Notifies$Bell" {
			assert.EqualValues(t, 50, l.Waits)
		}
	}
	require.Len(t, plain.Recordings, 1)
	assert.Equal(t, "jfr", plain.Recordings[0].Format)
	var text strings.Builder
	require.NoError(t, plain.WriteText(&text, 10))
	assert.Contains(t, text.String(), "The jfr recording has only what lasted at least:\n  jdk.JavaMonitorEnter: 0 ns  jdk.JavaMonitorWait: 0 ns")

	cut, err := Read(Source{Name: "x.jfr", Reader: bytes.NewReader(data[:len(data)-9])})
	require.ErrorContains(t, err, "(byte 0): a chunk breaks off")
	assert.Equal(t, []string{"Notifies"}, cut.Services, "what is there is read")
}
