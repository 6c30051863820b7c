// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/threadtest/golden"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// Each file has histories and calls of tools, each of which is followed by its answer.
func TestAnswers(t *testing.T) {
	golden.Each(t, "testdata/*.txt", func(t *testing.T, file string) {
		t.Helper()
		names, bodies := golden.Read(t, file)
		st, sessions := newStore(), byte(0)
		for _, name := range names {
			service, ok := strings.CutPrefix(name, "events ")
			if !ok {
				continue
			}
			sessions++
			s := addSession(t, st, sessions, service, bodies[name], nil)
			if service == "orders" {
				s.AddIncident(incident)
			}
		}
		c := connected(t, pageOf(t, st))
		for _, name := range names {
			call, ok := strings.CutPrefix(name, "call ")
			if !ok {
				continue
			}
			tool, arguments, _ := strings.Cut(call, " ")
			text, failed := ask(t, c, tool, arguments)
			if failed {
				text = "error: " + text + "\n"
			}
			assert.LessOrEqual(t, len(text), maxAnswer)
			bodies[name] = text
		}
		golden.Compare(t, file, golden.Join(names, bodies))
	})
}

var incident = store.Incident{
	IncidentID: store.IncidentID{Start: origin + 1_000_000, First: 1}, End: origin + 9_000_000, Name: "contention Book.lock", Text: "report held Book.lock, asleep in Report.write",
	Blocked: 14 * time.Millisecond, Holds: []store.IncidentPart{{Thread: 1, Name: "report", Start: origin + 1_000_000, End: origin + 9_000_000, Text: "report held Book.lock for 8 ms, asleep in Report.write"}},
}

// Every tool has an answer on file.
func TestEachToolIsTested(t *testing.T) {
	c := connected(t, pageOf(t, newStore()))
	list, err := c.ListTools(t.Context(), nil)
	require.NoError(t, err)
	names, _ := golden.Read(t, "testdata/orders.txt")
	all := strings.Join(names, "\n")
	for _, tool := range list.Tools {
		assert.Contains(t, all, "call "+tool.Name)
		assert.True(t, tool.Annotations.ReadOnlyHint)
	}
	assert.Len(t, list.Tools, 9)
}
