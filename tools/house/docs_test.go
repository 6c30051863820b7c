// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package house_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const (
	maxWidth = 140    // characters in a line of a document
	maxWords = 60_000 // in all documents, without those that are generated
)

// TestDocumentsAreShort limits what a newcomer would have to read.
func TestDocumentsAreShort(t *testing.T) {
	words := 0
	for _, f := range files(t) {
		if filepath.Ext(f.path) == ".md" && !f.generated {
			words += len(strings.Fields(f.text))
		}
	}
	assert.LessOrEqual(t, words, maxWords, "words in documents: say each thing once, and link to it")
}

// TestDocumentLineWidth limits the width of lines in documents. Tables and code cannot be wrapped.
func TestDocumentLineWidth(t *testing.T) {
	for _, f := range files(t) {
		if filepath.Ext(f.path) != ".md" || f.generated {
			continue
		}
		number, inCode := 0, false
		for line := range strings.Lines(f.text) {
			number++
			trimmed := strings.TrimSpace(line)
			if strings.HasPrefix(trimmed, "```") {
				inCode = !inCode
			}
			isTable := strings.HasPrefix(trimmed, "|")
			if width := utf8.RuneCountInString(strings.TrimRight(line, "\n")); width > maxWidth && !inCode && !isTable {
				t.Errorf("%s:%d: %d characters: wrap the line at %d", f.path, number, width, maxWidth)
			}
		}
	}
}

// TestLinksResolve checks that the file and the section of each relative link in the documents exist.
func TestLinksResolve(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	for _, f := range files(t) {
		if filepath.Ext(f.path) != ".md" || strings.HasPrefix(f.path, skills+"/") { // see TestSkillsForJaeger
			continue
		}
		for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(f.text, ""), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			path, section, _ := strings.Cut(match[1], "#")
			target := f.path
			if path != "" {
				target = filepath.Join(filepath.Dir(f.path), path)
			}
			info, err := os.Stat(target)
			if err != nil {
				t.Errorf("%s links to %s: %v", f.path, match[1], err)
				continue
			}
			if section == "" || info.IsDir() {
				continue
			}
			text, err := os.ReadFile(target)
			require.NoError(t, err)
			assert.Contains(t, sections(string(text)), section, "%s links to %s", f.path, match[1])
		}
	}
}

// sections returns the anchors that GitHub generates for a document's headings.
func sections(text string) []string {
	var all []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ +(.*)$`).FindAllStringSubmatch(text, -1) {
		name := strings.ReplaceAll(strings.ToLower(heading[1]), " ", "-")
		all = append(all, regexp.MustCompile(`[^\p{L}\p{N}_-]`).ReplaceAllString(name, ""))
	}
	return all
}

// TestAttributesAreDocumented checks that the document has each name of the code in backticks, and that its tables have no
// others.
func TestAttributesAreDocumented(t *testing.T) {
	const code, document = "internal/threadpdata/attributes.go", "docs/semantic-conventions.md"
	for _, path := range []string{code, document} {
		if _, err := os.Stat(path); err != nil {
			t.Skip(path, "is missing")
		}
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), code, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	inCode := map[string]bool{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if name, err := strconv.Unquote(lit.Value); err == nil && strings.HasPrefix(name, "weft.") {
				inCode[name] = true
			}
		}
		return true
	})
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	named, inTables := map[string]bool{}, map[string]bool{}
	quoted := regexp.MustCompile("`(weft\\.[a-z0-9_.]+)`")
	for line := range strings.Lines(string(text)) {
		for _, match := range quoted.FindAllStringSubmatch(line, -1) {
			named[match[1]] = true
			if strings.HasPrefix(strings.TrimSpace(line), "|") {
				inTables[match[1]] = true
			}
		}
	}
	for name := range inCode {
		assert.True(t, named[name], "%s is in %s, but not in %s", name, code, document)
	}
	for name := range inTables {
		assert.True(t, inCode[name], "%s is in a table of %s, but not in %s", name, document, code)
	}
}

// TestMessagesArePlain checks texts in the code with the word list that Vale applies to documents and comments. Patterns with a
// lookahead or lookbehind, which Go's regular expressions lack, apply to documents and comments only.
func TestMessagesArePlain(t *testing.T) {
	text, err := os.ReadFile("tools/vale/styles/Weft/Idioms.yml")
	require.NoError(t, err)
	var list struct{ Tokens []string }
	require.NoError(t, yaml.Unmarshal(text, &list))
	var patterns []*regexp.Regexp
	for _, expression := range list.Tokens {
		if pattern, err := regexp.Compile("(?i)" + expression); err == nil {
			patterns = append(patterns, pattern)
		}
	}
	require.NotEmpty(t, patterns)
	for _, f := range files(t) {
		if filepath.Ext(f.path) != ".go" || f.generated {
			continue
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, f.path, f.text, parser.SkipObjectResolution)
		require.NoError(t, err)
		for n := range ast.Preorder(parsed) {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING || !strings.Contains(lit.Value, " ") {
				continue
			}
			for _, pattern := range patterns {
				if found := pattern.FindString(lit.Value); found != "" {
					t.Errorf("%s: %q in %s: see Style in CONTRIBUTING.md", set.Position(lit.Pos()), found, lit.Value)
				}
			}
		}
	}
}
