// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/cmd/weft/internal/replay"
	"github.com/weft-otel/weft/internal/printable"
)

// hostile clears a terminal, reorders its line, hides itself and begins a new one.
const hostile = "\x1b[2J\u009b2J\u202e\u200b\x7f\r\nFORGED"

// withHostileNames returns traces all of whose names of services, threads, classes, methods and locks are hostile.
func withHostileNames(t *testing.T, lines string) string {
	t.Helper()
	word := regexp.MustCompile(`^[a-z_ ]*$`) // a state or kind
	var change func(value any) any
	change = func(value any) any {
		switch v := value.(type) {
		case map[string]any:
			for key, of := range v {
				if text, ok := of.(string); ok && key == "stringValue" && !word.MatchString(text) {
					v[key] = text[:1] + hostile + text[1:]
				} else {
					v[key] = change(of)
				}
			}
		case []any:
			for i := range v {
				v[i] = change(v[i])
			}
		}
		return value
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	for line := range strings.Lines(lines) {
		var value any
		require.NoError(t, json.Unmarshal([]byte(line), &value))
		require.NoError(t, encoder.Encode(change(value)))
	}
	return b.String()
}

func TestHostileNamesStayInTheirRow(t *testing.T) {
	for name, input := range map[string]string{
		"exchange": strings.Join(exchange(t), ""),
		"waits": traceOf(t, 0, []wait{
			{thread: "matcher-1", object: bookLock, length: time.Second, holder: "Report|1|sleeping|com.acme.Report.write"},
			{thread: "matcher-2", object: tapeRead, length: time.Minute, holder: "Report|1|sleeping|com.acme.Report.write"},
		}),
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Read(replay.Source{Name: "x", Reader: strings.NewReader(withHostileNames(t, input))})
			require.NoError(t, err)
			s.Headline += "Headline" + hostile
			for i := range s.Locks {
				s.Locks[i].Kind += hostile
			}
			s.Recordings = []Recording{{Format: "JFR", Thresholds: []string{"x" + hostile}}}
			var b strings.Builder
			require.NoError(t, s.WriteText(&b, 10))
			for line := range strings.SplitSeq(b.String(), "\n") {
				assert.Equal(t, line, printable.Text(line))
				assert.NotRegexp(t, "^ *FORGED", line)
			}
			assert.Contains(t, b.String(), "FORGED")
		})
	}
}
