// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package historyfuzz

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/internal/convert"
)

// recordings are patterns of the real recordings; testdata/record.sh made those of this folder.
var recordings = []string{"testdata/*.gz", "../../../../internal/recording/jfr/testdata/*.jfr.gz"}

// converted are the recordings that are also damaged in all formats that Weft can write, and carried are those damaged as carriers.
var (
	converted = []string{"deadlock-jdk25.weft"}
	carried   = []string{"virtual-jdk25.weft", "sums-jdk17.weft"}
)

// history is a file to damage.
type history struct {
	name     string
	data     []byte
	sidecars map[string][]byte // files that belong to it, by name
}

// histories returns all inputs, in the order of their names.
func histories(t *testing.T) (all []history) {
	t.Helper()
	for _, pattern := range recordings {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			h := history{name: strings.TrimSuffix(filepath.Base(path), ".gz"), data: unpacked(t, path)}
			all = append(all, h)
			if slices.Contains(converted, h.name) {
				all = append(all, conversions(t, &h)...)
			}
			if slices.Contains(carried, h.name) {
				all = append(all, history{name: h.name + carrierSuffix, data: carriers(t, &h)})
			}
		}
	}
	slices.SortFunc(all, func(a, b history) int { return cmp.Compare(a.name, b.name) })
	return all
}

func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	packed, err := os.ReadFile(path)
	require.NoError(t, err)
	r, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	return data
}

// conversions returns a native recording in other formats that Weft reads.
func conversions(t *testing.T, h *history) (all []history) {
	t.Helper()
	dir := t.TempDir()
	in := filepath.Join(dir, h.name)
	require.NoError(t, os.WriteFile(in, h.data, 0o600))
	for _, suffix := range []string{".orca", ".trcxml", ".triples", ".spans.json"} {
		name := strings.TrimSuffix(h.name, ".weft") + suffix
		report, err := convert.Convert(t.Context(), convert.Request{In: in, Out: filepath.Join(dir, name)})
		require.NoError(t, err, suffix)
		other := history{name: name, sidecars: make(map[string][]byte)}
		for _, file := range report.Files {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			other.sidecars[filepath.Base(file)] = data
		}
		other.data = other.sidecars[name]
		delete(other.sidecars, name)
		require.NotEmpty(t, other.data, "%v", report.Files)
		all = append(all, other)
	}
	return all
}
