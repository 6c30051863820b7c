// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const skills = "config/jaeger-skills"

// jaegerTools are the tools of Jaeger's MCP server (jaeger, cmd/jaeger/internal/extension/jaegerquery/internal/mcptools).
var jaegerTools = []string{
	"get_services", "get_span_names", "search_traces", "get_trace_topology", "get_critical_path", "get_span_details", "get_trace_errors",
	"get_dependencies", "read_skill",
}

// TestSkillsForJaeger checks the skills in the form that Jaeger serves: it mounts the folder at custom/, and an assistant finds files by links that
// begin there. All attributes and tools in them exist.
func TestSkillsForJaeger(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	attributes, tools := read("internal/threadpdata/attributes.go"), read("docs/assistants.md")
	found, err := filepath.Glob(skills + "/*/SKILL.md")
	require.NoError(t, err)
	require.NotEmpty(t, found)
	index := read(skills + "/SKILL.md")
	linked := regexp.MustCompile(`\]\(custom/([^)]+)\)`).FindAllStringSubmatch(index, -1)
	assert.Len(t, linked, len(found), "the root lists all skills")
	for _, link := range linked {
		assert.FileExists(t, skills+"/"+link[1])
	}
	assert.Equal(t, len(linked), strings.Count(index, "]("), "links begin with custom/")
	for _, path := range append(found, skills+"/SKILL.md") {
		text := read(path)
		for _, name := range regexp.MustCompile("`(weft\\.[a-z_.]+)`").FindAllStringSubmatch(text, -1) {
			assert.Contains(t, attributes, `"`+name[1]+`"`, "%s: no such attribute", path)
		}
		for _, name := range regexp.MustCompile("`([a-z]+_[a-z_]+)`").FindAllStringSubmatch(text, -1) {
			known := slices.Contains(jaegerTools, name[1]) || strings.Contains(tools, "| `"+name[1]+"` |") || strings.HasSuffix(name[1], "_context")
			assert.True(t, known, "%s: %s is not a tool", path, name[1])
		}
	}
	for _, path := range found {
		_, rest, begins := strings.Cut(read(path), "---\n")
		front, _, ends := strings.Cut(rest, "\n---\n")
		require.True(t, begins && ends, "%s: want a head between lines of ---", path)
		var head struct{ Name, Description, License string }
		require.NoError(t, yaml.Unmarshal([]byte(front), &head))
		assert.Equal(t, filepath.Base(filepath.Dir(path)), head.Name, "the name is that of the folder")
		assert.LessOrEqual(t, len(head.Description), 1024)
		assert.NotEmpty(t, head.Description)
	}
}
