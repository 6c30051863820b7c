// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package house_test checks project rules that no linter covers.
package house_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const (
	module   = "github.com/weft-otel/weft"
	maxLines = 400
)

var (
	skippedFolders = []string{"build", "node_modules", "dist"}
	generated      = regexp.MustCompile(`(?m)^(//|/\*| \*|#|<!--|\[comment\]: <> \() ?Code generated .* DO NOT EDIT`)

	// No file may contain paths of one machine, notes to oneself or unresolved merges.
	forbidden = []*regexp.Regexp{
		regexp.MustCompile(`(^|[^A-Za-z0-9_.}/-])/(root|home|Users)/[a-z]`),
		regexp.MustCompile(`(?i)do not (sub` + `mit|mer` + `ge)`),
		regexp.MustCompile(`(?m)^(<{7}|>{7}) `),
	}
)

type file struct {
	path, text string
	generated  bool
}

// files returns the text files of the project, generated ones too, but no test data.
func files(t *testing.T) []file {
	t.Helper()
	var all []file
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			hidden := path != "." && strings.HasPrefix(path, ".") && entry.Name() != ".ci" // such as a cache
			if hidden || slices.Contains(skippedFolders, entry.Name()) || entry.Name() == "testdata" {
				return filepath.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if slices.Contains(data[:min(len(data), 512)], 0) {
			return nil // not text
		}
		head := data[:min(len(data), 1024)]
		all = append(all, file{path: filepath.ToSlash(path), text: string(data), generated: generated.Match(head)})
		return nil
	}))
	require.NotEmpty(t, all)
	return all
}

// TestMain runs the tests in the root folder of the repository: all paths are relative to it.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestFilesAreShort(t *testing.T) {
	for _, f := range files(t) {
		if lines := strings.Count(f.text, "\n"); isSource(f.path) && !f.generated && lines > maxLines {
			t.Errorf("%s has %d lines: split it by topic (at most %d)", f.path, lines, maxLines)
		}
	}
}

func isSource(path string) bool {
	return slices.Contains([]string{".go", ".c", ".h", ".java", ".ts", ".tsx", ".mjs", ".sh", ".py"}, filepath.Ext(path))
}

// TestFilesAreSmall finds build output that was committed by mistake, which every later clone would contain.
func TestFilesAreSmall(t *testing.T) {
	const most = 1 << 20
	list, err := exec.CommandContext(t.Context(), "git", "ls-files", "-z").Output()
	if err != nil {
		t.Skip("NOTHING WAS TESTED: not a git clone, so the committed files are unknown")
	}
	for path := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		if info, err := os.Lstat(path); err == nil && info.Size() > most {
			t.Errorf("%s has %d bytes, want at most %d: is it build output?", path, info.Size(), most)
		}
	}
}

func TestFilesHaveLicenceHeaders(t *testing.T) {
	scripts := []string{".mk"}
	for _, f := range files(t) {
		isScript := slices.Contains(scripts, filepath.Ext(f.path)) || strings.HasPrefix(f.text, "#!") ||
			filepath.Base(f.path) == "Makefile" || strings.HasPrefix(f.path, "config/") && strings.HasSuffix(f.path, ".yaml")
		if f.generated || !isScript && !isSource(f.path) {
			continue
		}
		head := f.text[:min(len(f.text), 512)]
		if !strings.Contains(head, "Copyright The Weft Authors") || !strings.Contains(head, "SPDX-License-Identifier: Apache-2.0") {
			t.Errorf("%s: authors or licence missing in the first lines", f.path)
		}
	}
}

// TestScriptsParse has the shell parse each script without running it.
func TestScriptsParse(t *testing.T) {
	for _, f := range files(t) {
		if shell, _, _ := strings.Cut(f.text, "\n"); strings.HasPrefix(shell, "#!") && strings.HasSuffix(shell, "sh") {
			name := shell[strings.LastIndexAny(shell, "/ ")+1:]
			out, err := exec.CommandContext(t.Context(), name, "-n", f.path).CombinedOutput()
			assert.NoError(t, err, "%s: %s", f.path, out)
		}
	}
}

func TestFilesContainNothingForbidden(t *testing.T) {
	for _, f := range files(t) {
		for _, pattern := range forbidden {
			if at := pattern.FindStringIndex(f.text); at != nil {
				t.Errorf("%s:%d: %q", f.path, 1+strings.Count(f.text[:at[0]], "\n"), strings.TrimSpace(f.text[at[0]:at[1]]))
			}
		}
	}
}

func TestPackagesHaveOneComment(t *testing.T) {
	comments := map[string][]string{}
	for _, f := range files(t) {
		if filepath.Ext(f.path) != ".go" || strings.HasSuffix(f.path, "_test.go") || f.generated {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.path, f.text, parser.PackageClauseOnly|parser.ParseComments)
		require.NoError(t, err)
		dir := filepath.Dir(f.path)
		if _, seen := comments[dir]; !seen {
			comments[dir] = nil
		}
		if parsed.Doc != nil && parsed.Doc.Text() != "" {
			comments[dir] = append(comments[dir], f.path)
		}
	}
	for dir, in := range comments {
		if len(in) != 1 {
			t.Errorf("%s: want one package comment, have %d %v", dir, len(in), in)
		}
	}
}

// components returns the import paths in one of ocb's configurations (those of other projects with their version), and
// the version of the distribution.
func components(t *testing.T, path string) (names []string, version string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var whole struct {
		Dist struct {
			Version string `yaml:"version"`
		} `yaml:"dist"`
		Kinds map[string][]struct {
			GoMod  string `yaml:"gomod"`
			Import string `yaml:"import"`
		} `yaml:",inline"`
	}
	require.NoError(t, yaml.Unmarshal(data, &whole))
	for _, list := range whole.Kinds {
		for _, c := range list {
			name := c.GoMod
			if c.Import != "" {
				name = c.Import
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, whole.Dist.Version
}

func TestDistributionsContainOurComponents(t *testing.T) {
	var want []string
	for _, kind := range []string{"receiver", "processor", "exporter", "connector", "extension"} {
		folders, err := filepath.Glob(kind + "/*/factory.go")
		require.NoError(t, err)
		for _, path := range folders {
			want = append(want, module+"/"+filepath.ToSlash(filepath.Dir(path)))
		}
	}
	slices.Sort(want)
	for _, path := range []string{"builder-config.yaml", "builder-config-full.yaml"} {
		all, _ := components(t, path)
		have := slices.DeleteFunc(all, func(name string) bool { return !strings.HasPrefix(name, module+"/") })
		assert.Equal(t, want, have, "%s and the folders with a factory.go differ", path)
	}
}

func TestSlimDistributionIsASubset(t *testing.T) {
	full, fullVersion := components(t, "builder-config-full.yaml")
	slim, slimVersion := components(t, "builder-config.yaml")
	assert.Subset(t, full, slim)
	assert.Equal(t, fullVersion, slimVersion)
}

func TestConfigurationsAreListed(t *testing.T) { areListed(t, "config/README.md", "config/*.yaml") }

func TestDecisionsAreListed(t *testing.T) { areListed(t, "docs/adr/README.md", "docs/adr/0*.md") }

func areListed(t *testing.T, document, pattern string) {
	t.Helper()
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	paths, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		assert.Contains(t, string(text), "("+filepath.Base(path)+")", "%s has a link to each", document)
	}
}
