// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package web_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/web"
)

// Bytes with gzip. The first screen does not need later.js.
const (
	maxFirst = 70_000
	maxAll   = 95_000
)

func TestPageIsSmall(t *testing.T) {
	all, later := weight(t), gzipped(t, "later.js")
	t.Logf("%d bytes gzipped, %d of them for the first screen", all, all-later)
	assert.LessOrEqual(t, all-later, maxFirst)
	assert.LessOrEqual(t, all, maxAll)
}

// The content security policy of the page forbids inline code and other origins.
func TestPageLoadsOnlyFromItsOrigin(t *testing.T) {
	html, err := fs.ReadFile(web.Page(), "index.html")
	require.NoError(t, err)
	assert.NotRegexp(t, `(?i)<style|\sstyle=|\son[a-z]+=|<script>|(src|href)="(https?:)?//`, string(html))
	for _, name := range []string{"app.js", "chunk.js", "later.js", "app.css"} {
		data, err := fs.ReadFile(web.Page(), name)
		require.NoError(t, err)
		for _, url := range regexp.MustCompile(`https?://[^"'\s)]*`).FindAllString(string(data), -1) {
			assert.Regexp(t, `^http://www\.w3\.org/`, url, "%s refers to another origin", name)
		}
	}
}

// gzipped returns the compressed size of a file of the page.
func gzipped(t testing.TB, name string) int {
	t.Helper()
	data, err := fs.ReadFile(web.Page(), name)
	require.NoError(t, err)
	var size counter
	zip, err := gzip.NewWriterLevel(&size, gzip.BestCompression)
	require.NoError(t, err)
	_, err = zip.Write(data)
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	return int(size)
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

var _ io.Writer = (*counter)(nil)

// weight returns the compressed size of the page.
func weight(t testing.TB) int {
	t.Helper()
	files, err := fs.ReadDir(web.Page(), ".")
	require.NoError(t, err)
	total := 0
	for _, file := range files {
		total += gzipped(t, file.Name())
	}
	return total
}
