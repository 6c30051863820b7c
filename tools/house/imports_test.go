// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package house_test

import (
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const architecture = "docs/architecture.md"

// pdataReaders are the packages that may import pdata: those that convert it, and those that the collector calls with it.
var pdataReaders = []string{
	"internal/threadpdata", "internal/origin", "internal/sessions", "internal/spanlines", "internal/stackprofile", "internal/threadview", "internal/recording/otlp", "receiver", "processor", "connector", "exporter",
	"cmd/weft/internal/local",
}

// tools are the programs and packages of developers and of tests: they may import everything.
var tools = []string{"bench", "corpus", "demo", "e2e", "internal/threadtest", "internal/wire/genheader", "web/internal", "internal/threadview/devserver", "cmd/weft/internal/manual", "cmd/weft/internal/historyfuzz", "tools/mutation", "tools/release"}

// within reports whether a package is one of the folders, or below one.
func within(dir string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return dir == folder || strings.HasPrefix(dir, folder+"/") })
}

// layers returns the packages of the table in architecture.md, from the lowest to the highest.
func layers(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(architecture)
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "\n## Packages\n")
	require.True(t, found, "%s has no section Packages", architecture)
	table, _, _ = strings.Cut(table, "\n## ")
	name := regexp.MustCompile("`([a-z0-9/]+)`")
	var all []string
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, match := range name.FindAllStringSubmatch(cells[1], -1) {
				all = append(all, match[1])
			}
		}
	}
	require.NotEmpty(t, all)
	return all
}

// layerOf returns the index of the longest row that is the package or a folder above it, or -1.
func layerOf(layers []string, dir string) int {
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if i := slices.Index(layers, dir); i >= 0 {
			return i
		}
	}
	return -1
}

// eachImport calls fn for each import of a Go file that is not a test.
func eachImport(t *testing.T, fn func(f file, dir, imported string)) {
	t.Helper()
	for _, f := range files(t) {
		if filepath.Ext(f.path) != ".go" || strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.path, f.text, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			fn(f, path.Dir(f.path), imported)
		}
	}
}

// TestImportsFollowTheLayers compares imports with the table of packages: a package may import only packages listed above it.
func TestImportsFollowTheLayers(t *testing.T) {
	rows := layers(t)
	for _, dir := range rows {
		info, err := os.Stat(dir)
		if assert.NoError(t, err, "%s lists %s", architecture, dir) {
			assert.True(t, info.IsDir(), "%s lists %s, which is not a folder", architecture, dir)
		}
	}
	eachImport(t, func(f file, dir, imported string) {
		if within(dir, tools) {
			return
		}
		own := layerOf(rows, dir)
		if own < 0 {
			t.Errorf("%s: %s is not in the table of %s", f.path, dir, architecture)
			return
		}
		if target, ours := strings.CutPrefix(imported, module+"/"); ours {
			if layer := layerOf(rows, target); layer > own || layer < 0 {
				t.Errorf("%s imports %s, which %s lists below %s", f.path, target, architecture, rows[own])
			}
		}
	})
}

// TestOnlyAdaptersImportPdata keeps pdata out of the engine, which works on plain structs.
func TestOnlyAdaptersImportPdata(t *testing.T) {
	eachImport(t, func(f file, dir, imported string) {
		if strings.HasPrefix(imported, "go.opentelemetry.io/collector/pdata/") && !within(dir, pdataReaders) && !within(dir, tools) {
			t.Errorf("%s imports pdata: only %s do", f.path, strings.Join(pdataReaders, ", "))
		}
	})
}
