// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSameFilesMakeTheSameImage(t *testing.T) {
	source := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(source, []byte("program"), 0o600))
	created := time.Unix(1_700_000_000, 0).UTC()
	digest := func(modified time.Time) string {
		require.NoError(t, os.Chtimes(source, time.Time{}, modified))
		dir := filepath.Join(t.TempDir(), "oci")
		image := Image{Processor: "arm64", Layers: [][]Entry{{{Name: "/usr/bin/program", Mode: 0o755, Source: source}}}}
		require.NoError(t, Write(dir, "0.1.0", []Image{image}, created))
		index, err := layout.ImageIndexFromPath(dir)
		require.NoError(t, err)
		require.NoError(t, validate.Index(index))
		manifest, err := index.IndexManifest()
		require.NoError(t, err)
		return manifest.Manifests[0].Digest.String()
	}
	assert.Equal(t, digest(time.Unix(1, 0)), digest(time.Unix(2, 0)))
}

func TestLayersHaveOwnersAndRights(t *testing.T) {
	packed, err := pack([]Entry{
		{Name: "/var/lib/weft", Mode: 0o750 | fs.ModeSetgid, Owner: User},
		{Name: "/tmp", Mode: 0o777 | fs.ModeSticky},
		{Name: "/var/lib/weft/file", Mode: 0o640, Data: []byte("text")},
	}, time.Unix(0, 0))
	require.NoError(t, err)
	type row struct {
		mode  int64
		owner int
	}
	have := map[string]row{}
	for r := tar.NewReader(bytes.NewReader(packed)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		have[header.Name] = row{header.Mode, header.Uid}
	}
	assert.Equal(t, map[string]row{
		"tmp/": {0o1777, 0}, "var/": {0o755, 0}, "var/lib/": {0o755, 0}, "var/lib/weft/": {0o2750, User}, "var/lib/weft/file": {0o640, 0},
	}, have)
}

func TestRefusesNamesOutsideOfTheImage(t *testing.T) {
	for _, name := range []string{"usr/bin/x", "/usr/../x", "/x/"} {
		_, err := pack([]Entry{{Name: name}}, time.Unix(0, 0))
		require.ErrorContains(t, err, "want an absolute path", name)
	}
}
