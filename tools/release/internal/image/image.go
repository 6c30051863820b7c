// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package image answers: what is in a container image, and how does it become the same bytes on every machine? No daemon is needed.
package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// User is the number of the user and the group that the programs run as; orchestrators check that it is a number other than 0.
const User = 65532

// Entry is a file or a folder of an image. Folders above it that have no entry of their own belong to root, with mode 0755.
type Entry struct {
	Name   string // absolute
	Mode   fs.FileMode
	Owner  int    // user and group
	Source string // path on this machine; empty: Data
	Data   []byte // nil and no Source: a folder
}

// Image is an image for one processor.
type Image struct {
	Processor string // as Go names it
	Config    v1.Config
	Layers    [][]Entry // those that change least come first
}

// Write writes the images of one name as a folder in OCI's image layout, which skopeo, crane and others copy to a registry.
func Write(dir, tag string, images []Image, created time.Time) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for i := range images {
		built, err := images[i].build(created)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: built, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: images[i].Processor}},
		})
	}
	if err := os.RemoveAll(dir); err != nil { // blobs of another version
		return err
	}
	target, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	return target.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": tag}))
}

func (i Image) build(created time.Time) (v1.Image, error) {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	built, err := mutate.ConfigFile(base, &v1.ConfigFile{
		OS: "linux", Architecture: i.Processor, Config: i.Config, Created: v1.Time{Time: created}, RootFS: v1.RootFS{Type: "layers"},
	})
	if err != nil {
		return nil, err
	}
	for _, entries := range i.Layers {
		packed, err := pack(entries, created)
		if err != nil {
			return nil, err
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil },
			tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
		if err != nil {
			return nil, err
		}
		history := v1.History{Created: v1.Time{Time: created}, CreatedBy: "make release-snapshot"}
		if built, err = mutate.Append(built, mutate.Addendum{Layer: layer, History: history, MediaType: types.OCILayer}); err != nil {
			return nil, err
		}
	}
	return built, nil
}

// pack returns a layer in memory: the largest, a collector, has some 100 MB.
func pack(entries []Entry, modified time.Time) ([]byte, error) {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	written := map[string]bool{"/": true}
	for _, e := range entries {
		if !path.IsAbs(e.Name) || path.Clean(e.Name) != e.Name {
			return nil, fmt.Errorf("invalid name %q (want an absolute path)", e.Name)
		}
		if err := folders(w, path.Dir(e.Name), written, modified); err != nil {
			return nil, err
		}
		written[e.Name] = true
		if err := e.write(w, modified); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

func folders(w *tar.Writer, name string, written map[string]bool, modified time.Time) error {
	if written[name] {
		return nil
	}
	if err := folders(w, path.Dir(name), written, modified); err != nil {
		return err
	}
	written[name] = true
	return Entry{Name: name, Mode: 0o755}.write(w, modified)
}

func (e Entry) write(w *tar.Writer, modified time.Time) (err error) {
	header := tar.Header{Name: strings.TrimPrefix(e.Name, "/"), Mode: mode(e.Mode), Uid: e.Owner, Gid: e.Owner, ModTime: modified}
	content := io.Reader(bytes.NewReader(e.Data))
	switch {
	case e.Source != "":
		in, err := os.Open(e.Source)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, in.Close()) }()
		info, err := in.Stat()
		if err != nil {
			return err
		}
		header.Typeflag, header.Size, content = tar.TypeReg, info.Size(), in
	case e.Data != nil:
		header.Typeflag, header.Size = tar.TypeReg, int64(len(e.Data))
	default:
		header.Typeflag, header.Name = tar.TypeDir, header.Name+"/"
	}
	if err := w.WriteHeader(&header); err != nil {
		return err
	}
	_, err = io.Copy(w, content)
	return err
}

// mode returns the rights in the form of Unix.
func mode(m fs.FileMode) int64 {
	bits := int64(m.Perm())
	if m&fs.ModeSticky != 0 {
		bits |= 0o1000
	}
	if m&fs.ModeSetgid != 0 {
		bits |= 0o2000
	}
	return bits
}
