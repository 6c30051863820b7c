// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Package optiondoc answers: does a component's README list each option, with its default?
package optiondoc

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Compare checks a README against the default configuration of a component, a pointer. Its tables with the columns option and default list each
// option, with :: between levels, or all of a level, and no others. A table may leave out the levels that all of its options share. Described are
// options whose default is in words, or that belong to the Collector.
func Compare(t *testing.T, readme string, config any, described ...string) {
	t.Helper()
	text, err := os.ReadFile(readme)
	require.NoError(t, err)
	defaults := map[string]string{}
	collect(reflect.ValueOf(config).Elem(), "", defaults)
	require.NotEmpty(t, defaults)
	rows := tables(string(text))
	require.NotEmpty(t, rows, "%s has no table of options", readme)
	for key := range defaults {
		assert.True(t, slices.ContainsFunc(rows, func(r row) bool { return slices.Contains(spellings(key), r.key) }), "%s does not list the option %s", readme, key)
	}
	for _, r := range rows {
		if slices.Contains(described, r.key) {
			continue
		}
		found, matches := false, false
		for key, value := range defaults {
			if slices.Contains(spellings(key), r.key) {
				found = true
				inside := !strings.HasSuffix(key, r.key) // the row has all options of a level
				matches = matches || inside || same(value, r.value)
			}
		}
		assert.True(t, found, "%s lists the option %s, which does not exist", readme, r.key)
		assert.True(t, !found || matches, "%s: the default of %s is not %q", readme, r.key, r.value)
	}
}

// spellings returns what a README may call an option a::b::c: by its last levels, or as a part of a level.
func spellings(key string) (names []string) {
	levels := strings.Split(key, "::")
	for from := range levels {
		for to := from + 1; to <= len(levels); to++ {
			if to == len(levels) || from == 0 {
				names = append(names, strings.Join(levels[from:to], "::"))
			}
		}
	}
	return names
}

func same(value, cell string) bool {
	return cell == value || strings.HasPrefix(cell, "as ") || (cell == "" || cell == "none") && slices.Contains([]string{"", "0", "false"}, value)
}

type row struct{ key, value string }

var quoted = regexp.MustCompile("`([^`]+)`")

// tables returns the rows of all tables of options, one for each option.
func tables(text string) (rows []row) {
	inside := false
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		switch {
		case strings.HasPrefix(line, "| option | default |"):
			inside = true
		case !strings.HasPrefix(line, "|"):
			inside = false
		case inside && !strings.HasPrefix(line, "| ---") && len(cells) > 3:
			keys := quoted.FindAllStringSubmatch(cells[1], -1)
			value := strings.NewReplacer("`", "", `"`, "").Replace(strings.TrimSpace(cells[2]))
			values := strings.Split(value, ", ")
			for i, key := range keys {
				if len(keys) > 1 && len(values) == len(keys) {
					value = values[i]
				}
				rows = append(rows, row{key[1], value})
			}
		}
	}
	return rows
}
