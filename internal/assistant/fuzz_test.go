// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/printable"
)

// fuzz calls a tool with any arguments: there is a short answer or a short error.
func fuzz(f *testing.F, tool string, seeds ...string) {
	f.Helper()
	st := newStore()
	simulated(f, st, 1, 6, 3, 300)
	simulated(f, st, 2, 6, 3, 300)
	c := connected(f, pageOf(f, st))
	for _, seed := range append(seeds, `{}`, `[]`, `null`, `7`, `{"session":1}`, `{"session":"01","session":"02"}`, `{"session":"\u0000\n"}`, `{"x":{"y":[]}}`) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		if !json.Valid([]byte(arguments)) {
			return // the protocol carries none
		}
		result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
		if err != nil {
			assert.LessOrEqual(t, len(err.Error()), maxAnswer)
			return
		}
		require.Len(t, result.Content, 1)
		text, ok := result.Content[0].(*mcp.TextContent)
		require.True(t, ok)
		wellFormed(t, text.Text)
		if result.IsError {
			assert.Equal(t, printable.Text(text.Text), text.Text)
			assert.NotContains(t, text.Text, "validating")
			assert.NotContains(t, text.Text, "json:")
		}
	})
}

// times are arguments of a range.
var times = []string{
	`{"session":"01","from":"1us","to":"2us"}`, `{"session":"01","from":"-1us"}`, `{"session":"01","to":"2026-03-04T10:30:00Z"}`, `{"session":"01","from":"9999999h"}`,
	`{"session":"01","from":"","to":""}`, `{"session":"01","limit":1}`, `{"session":"01","limit":1e99}`, `{"session":"01","limit":0.5}`, `{"session":"01","limit":-1}`,
}

func FuzzListSessions(f *testing.F) { fuzz(f, "list_sessions") }

func FuzzHottestLocks(f *testing.F) { fuzz(f, "hottest_locks", times...) }

func FuzzListIncidents(f *testing.F) { fuzz(f, "list_incidents", times...) }

func FuzzWhoIsStuck(f *testing.F) {
	fuzz(f, "who_is_stuck", `{"session":"01","at":"1us"}`, `{"session":"01","at":"-1us","limit":50}`, `{"session":"01","at":"now"}`)
}

func FuzzDeadlocks(f *testing.F) { fuzz(f, "deadlocks", `{"session":"01"}`) }

func FuzzWhy(f *testing.F) {
	fuzz(f, "why", append(times, `{"session":"01","thread":"1"}`, `{"session":"01","thread":"("}`, `{"session":"01","lock":"Lock1"}`, `{"session":"01","lock":"("}`,
		`{"session":"01","thread":"1","lock":"x"}`, `{"session":"01","thread":"18446744073709551616"}`)...)
}

func FuzzExplainSpan(f *testing.F) {
	fuzz(f, "explain_span", `{"span_id":"00000000000000aa"}`, `{"span_id":"x"}`, `{"session":"01","span_id":"00000000000000AA"}`)
}

func FuzzCriticalPath(f *testing.F) {
	fuzz(f, "critical_path", append(times, `{"session":"01","thread":"2"}`, `{"session":"01","thread":"t"}`)...)
}

func FuzzCompare(f *testing.F) {
	fuzz(f, "compare", append(times, `{"session":"01","before":"02"}`, `{"session":"01","before":"02","before_from":"1us","before_to":"3us"}`,
		`{"session":"01","before":"02","requests":3}`, `{"session":"01","before":"02","requests":9223372036854775807,"before_requests":-1}`)...)
}
