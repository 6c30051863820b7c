// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package notices

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const own = "github.com/weft-otel/weft"

// Package is a Go package that is linked, as go build names it.
type Package struct {
	Dir, Path         string // folder in which go runs, and the package
	Tags              string
	System, Processor string
}

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir string
	Standard        bool
	Module          *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path, Version string }
	}
}

// Of returns the parts of packages and of all that they import. Those of the page are found below the root of the repository.
func Of(root string, packages ...Package) ([]Part, error) {
	parts := map[string]*Part{}
	hasPage := false
	for _, p := range packages {
		env := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.System, "GOARCH="+p.Processor)
		goroot, err := run(p.Dir, env, "go", "env", "GOROOT", "GOVERSION")
		if err != nil {
			return nil, err
		}
		library, version, _ := strings.Cut(strings.TrimSpace(string(goroot)), "\n")
		list, err := run(p.Dir, env, "go", "list", "-deps", "-tags="+p.Tags, "-json=ImportPath,Dir,Standard,Module", p.Path)
		if err != nil {
			return nil, err
		}
		for d := json.NewDecoder(bytes.NewReader(list)); d.More(); {
			var l listed
			if err := d.Decode(&l); err != nil {
				return nil, fmt.Errorf("go list: %w", err)
			}
			part := Part{Name: "Go", Version: strings.TrimPrefix(version, "go"), root: library}
			if m := l.Module; !l.Standard && m != nil {
				part = Part{Name: m.Path, Version: m.Version, root: m.Dir}
				if m.Replace != nil {
					part.Version = strings.TrimSpace(m.Replace.Path + " " + m.Replace.Version)
				}
			}
			hasPage = hasPage || l.ImportPath == own+"/web"
			if part.Name == own || strings.HasPrefix(part.Name, own+"/") {
				continue
			}
			if parts[part.Name] == nil {
				parts[part.Name] = &part
			}
			parts[part.Name].folders = append(parts[part.Name].folders, l.Dir)
		}
	}
	var all []Part
	for _, part := range parts {
		all = append(all, *part)
	}
	if !hasPage {
		return all, nil
	}
	page, err := npm(filepath.Join(root, "web"))
	return slices.Concat(all, page), err
}

// npm returns the packages that are bundled in the page: all but those that only build it.
func npm(folder string) (parts []Part, err error) {
	lock, err := os.ReadFile(filepath.Join(folder, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var content struct {
		Packages map[string]struct {
			Version string
			Dev     bool
		}
	}
	if err := json.Unmarshal(lock, &content); err != nil {
		return nil, fmt.Errorf("package-lock.json: %w", err)
	}
	for path, p := range content.Packages {
		if name, isPackage := strings.CutPrefix(path, "node_modules/"); isPackage && !p.Dev {
			parts = append(parts, Part{Name: "npm " + name, Version: p.Version, root: filepath.Join(folder, filepath.FromSlash(path))})
		}
	}
	return parts, nil
}

func run(dir string, env []string, program string, args ...string) ([]byte, error) {
	cmd := exec.Command(program, args...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w: %s", cmd.Args, err, stderr.Bytes())
	}
	return out, nil
}
