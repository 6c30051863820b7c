// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package goproxy answers: what would a Go module proxy serve if this working tree were released?
package goproxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// Write packs the module in root, as it is in the working tree, into dir, which can then be used as GOPROXY=file://dir. It fails if a
// proxy would refuse the module, or if the module would be built differently elsewhere.
func Write(root, dir, version string) error {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return err
	}
	parsed, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return err
	}
	if len(parsed.Replace) > 0 {
		return fmt.Errorf("go.mod:%d: replace applies to this repository only: require a released version", parsed.Replace[0].Syntax.Start.Line)
	}
	own := module.Version{Path: parsed.Module.Mod.Path, Version: version}
	if err := module.Check(own.Path, own.Version); err != nil {
		return err
	}
	files, err := listed(root)
	if err != nil {
		return err
	}
	target := filepath.Join(dir, filepath.FromSlash(own.Path), "@v")
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	var packed bytes.Buffer
	if err := zip.Create(&packed, own, files); err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{version, time.Unix(0, 0).UTC()})
	if err != nil {
		return err
	}
	for suffix, content := range map[string][]byte{".zip": packed.Bytes(), ".mod": text, ".info": info} {
		if err := os.WriteFile(filepath.Join(target, version+suffix), content, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(target, "list"), []byte(version+"\n"), 0o644)
}

// listed returns the files that a commit of everything would contain. Files of nested modules are left out, as in a proxy.
func listed(root string) ([]zip.File, error) {
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot list the files of %s (want a git clone): %w", root, err)
	}
	var files []zip.File
	var nested []string
	names := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	for _, name := range names {
		if folder, ok := strings.CutSuffix(name, "/go.mod"); ok {
			nested = append(nested, folder+"/")
		}
	}
next:
	for _, name := range names {
		for _, folder := range nested {
			if strings.HasPrefix(name, folder) {
				continue next
			}
		}
		info, err := os.Lstat(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, but not yet committed
		}
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() {
			files = append(files, file{root, name})
		}
	}
	return files, nil
}

// file is a file below root.
type file struct{ root, name string }

func (f file) Path() string                 { return f.name }
func (f file) Lstat() (fs.FileInfo, error)  { return os.Lstat(filepath.Join(f.root, f.name)) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(f.root, f.name)) }
