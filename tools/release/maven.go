// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/weft-otel/weft/tools/release/internal/archive"
)

const artifact = "weft-otel"

// maven writes the extension for OpenTelemetry's Java SDK as a repository, with what Maven Central requires of an artifact but a signature.
func (r release) maven() error {
	dir := filepath.Join(r.out, "maven", "io", "github", "weft-otel", artifact, r.version)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	pom, err := r.pom()
	if err != nil {
		return err
	}
	jar, err := os.ReadFile(r.repo("build/weft-otel.jar"))
	if err != nil {
		return err
	}
	sources, err := r.jar("agent/otel/src", "agent/otel/resources")
	if err != nil {
		return err
	}
	docs, err := r.jar("build/otel-javadoc")
	if err != nil {
		return err
	}
	for suffix, content := range map[string][]byte{".pom": pom, ".jar": jar, "-sources.jar": sources, "-javadoc.jar": docs} {
		name := filepath.Join(dir, artifact+"-"+r.version+suffix)
		sha := fmt.Sprintf("%x", sha1.Sum(content))
		md := fmt.Sprintf("%x", md5.Sum(content))
		err := errors.Join(os.WriteFile(name, content, 0o644), os.WriteFile(name+".sha1", []byte(sha), 0o644), os.WriteFile(name+".md5", []byte(md), 0o644))
		if err != nil {
			return err
		}
	}
	return nil
}

// jar packs the files below folders of the repository.
func (r release) jar(folders ...string) ([]byte, error) {
	var files []archive.File
	for _, folder := range folders {
		top := r.repo(folder)
		err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			name, err := filepath.Rel(top, path)
			files = append(files, archive.File{Source: path, Name: filepath.ToSlash(name), Mode: 0o644})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	files = append(files, archive.File{Source: r.repo("LICENSE"), Name: "META-INF/LICENSE", Mode: 0o644})
	slices.SortFunc(files, func(a, b archive.File) int { return strings.Compare(a.Name, b.Name) })
	var packed bytes.Buffer
	err := archive.Zip(&packed, "", files, r.time)
	return packed.Bytes(), err
}

// dependency is an element of a POM.
type dependency struct {
	GroupID    string `xml:"groupId"`
	ArtifactID string `xml:"artifactId"`
	Version    string `xml:"version"`
}

// pom returns the POM. What the extension is compiled with is provided by the application, in a version of its own.
func (r release) pom() ([]byte, error) {
	text, err := os.ReadFile(r.repo("agent/otel/pom.xml"))
	if err != nil {
		return nil, err
	}
	var compiled struct {
		Dependencies []dependency `xml:"dependencies>dependency"`
	}
	if err := xml.Unmarshal(text, &compiled); err != nil {
		return nil, fmt.Errorf("agent/otel/pom.xml: %w", err)
	}
	var out bytes.Buffer
	err = template.Must(template.New("pom").Parse(pomTemplate)).Execute(&out, map[string]any{
		"Artifact": artifact, "Version": r.version, "Dependencies": compiled.Dependencies,
	})
	return out.Bytes(), err
}

const pomTemplate = `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>io.github.weft-otel</groupId>
  <artifactId>{{.Artifact}}</artifactId>
  <version>{{.Version}}</version>
  <name>Weft for OpenTelemetry's Java SDK</name>
  <description>Reports the current span of each thread to Weft's agent.</description>
  <url>https://github.com/weft-otel/weft</url>
  <licenses>
    <license>
      <name>Apache-2.0</name>
      <url>https://www.apache.org/licenses/LICENSE-2.0.txt</url>
    </license>
  </licenses>
  <developers>
    <developer>
      <name>The Weft Authors</name>
      <url>https://github.com/weft-otel</url>
    </developer>
  </developers>
  <scm>
    <connection>scm:git:https://github.com/weft-otel/weft.git</connection>
    <url>https://github.com/weft-otel/weft</url>
  </scm>
  <dependencies>
{{- range .Dependencies}}
    <dependency>
      <groupId>{{.GroupID}}</groupId>
      <artifactId>{{.ArtifactID}}</artifactId>
      <version>{{.Version}}</version>
      <scope>provided</scope>
    </dependency>
{{- end}}
  </dependencies>
</project>
`
