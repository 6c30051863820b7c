// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// schema is what tests read of a tool's schema.
type schema struct {
	Type                 string
	Required             []string
	AdditionalProperties any
	Properties           map[string]struct {
		Type, Description string
	}
}

// order is that of the arguments in the documentation.
var order = []string{
	"session", "from", "to", "at", "thread", "lock", "span_id", "limit", "before", "before_from", "before_to", "requests", "before_requests",
}

// The documentation lists all tools with all arguments, in the words of the server.
func TestDocumentation(t *testing.T) {
	list, err := connected(t, pageOf(t, newStore())).ListTools(t.Context(), nil)
	require.NoError(t, err)
	described := map[string]string{}
	var rows, arguments strings.Builder
	rows.WriteString("| tool | answer | arguments |\n| --- | --- | --- |\n")
	arguments.WriteString("| argument | meaning |\n| --- | --- |\n")
	for _, tool := range list.Tools {
		text, err := json.Marshal(tool.InputSchema)
		require.NoError(t, err)
		var s schema
		require.NoError(t, json.Unmarshal(text, &s))
		assert.Equal(t, "object", s.Type)
		if len(s.Properties) > 0 {
			assert.NotNil(t, s.AdditionalProperties, "%s takes any argument", tool.Name)
		}
		var names []string
		for _, name := range order {
			p, ok := s.Properties[name]
			if !ok {
				continue
			}
			required := ""
			if slices.Contains(s.Required, name) {
				required = " (required)"
			}
			names = append(names, "`"+name+"`"+required)
			assert.Contains(t, []string{"string", "integer"}, p.Type)
			if known, ok := described[name]; ok {
				assert.Equal(t, known, p.Description, name)
			}
			described[name] = p.Description
		}
		assert.Len(t, names, len(s.Properties), "%s: order lacks an argument: %s", tool.Name, text)
		fmt.Fprintf(&rows, "| %#q | %s | %s |\n", tool.Name, tool.Description, strings.Join(names, ", "))
	}
	for _, name := range order {
		fmt.Fprintf(&arguments, "| %#q | %s |\n", name, described[name])
	}
	doc, err := os.ReadFile("../../docs/assistants.md")
	require.NoError(t, err)
	for _, table := range []string{rows.String(), arguments.String()} {
		if !strings.Contains(string(doc), table) {
			t.Errorf("docs/assistants.md lacks this table:\n%s", table)
		}
	}
	for _, text := range []string{fmt.Sprintf("%d questions", maxCalls), "8,000 bytes", "64 KiB", "15 seconds", "25 seconds"} {
		assert.Contains(t, string(doc), text)
	}
	assert.Equal(t, []any{8000, 64 << 10, "15s", "25s"}, []any{maxAnswer, MaxRequest, queueing.String(), patience.String()})
}
