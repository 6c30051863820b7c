// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package house_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// agentOption is what the agent's README says of an option in its tables.
type agentOption struct {
	fixed bool   // †: for a session
	value string // the default; of options with texts: nothing
}

// TestAgentOptionsAreDocumented compares the agent's options with its README.
func TestAgentOptionsAreDocumented(t *testing.T) {
	inCode := codedOptions(t)
	require.Greater(t, len(inCode), 40, "options found")
	inDocument := documentedOptions(t)
	for key, option := range inCode {
		if option.value == "" {
			documented := inDocument[key]
			documented.value = ""
			inDocument[key] = documented
		}
	}
	assert.Equal(t, inCode, inDocument)
}

var (
	optionRow = regexp.MustCompile(`(?m)^    \{"([a-z-]+)", &WEFT_(\w+), AT\((\w+)\), .*, (WEFT_\w+)\},$`)
	preset    = regexp.MustCompile(`(?m)^ {8}\.(\w+) = (.+),$`)
)

// codedOptions reads the table of options and the defaults, without what only weft attach and weft detach send.
func codedOptions(t *testing.T) map[string]agentOption {
	t.Helper()
	source := strings.ReplaceAll(agentFiles(t)["options/options.c"], "{headers_key,", `{"headers",`)
	presets := map[string]string{}
	for _, match := range preset.FindAllStringSubmatch(source, -1) {
		value := strings.NewReplacer("true", "on", "WEFT_VIRTUAL_ON", "on", " * MIB", "m").Replace(match[2])
		value = regexp.MustCompile(`0{9}$`).ReplaceAllString(value, "s")
		presets[match[1]] = regexp.MustCompile(`0{6}$`).ReplaceAllString(value, "ms")
	}
	require.NotEmpty(t, presets)
	options := map[string]agentOption{}
	for _, match := range optionRow.FindAllStringSubmatch(source, -1) {
		value := presets[match[3]]
		if value == "" && match[2] == "SWITCH" {
			value = "off"
		}
		if match[1] != "detach" && match[1] != "status" {
			options[match[1]] = agentOption{match[4] == "WEFT_AT_START", value}
		}
	}
	return options
}

func documentedOptions(t *testing.T) map[string]agentOption {
	t.Helper()
	text, err := os.ReadFile("agent/README.md")
	require.NoError(t, err)
	options := map[string]agentOption{}
	inside := false
	for line := range strings.Lines(string(text)) {
		inside = strings.HasPrefix(line, "| option | default |") || inside && strings.HasPrefix(line, "|")
		if cells := strings.Split(line, "|"); inside && len(cells) > 3 {
			for _, match := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(cells[1], -1) {
				options[match[1]] = agentOption{strings.Contains(cells[1], "†"), strings.Trim(cells[2], " `")}
			}
		}
	}
	return options
}
