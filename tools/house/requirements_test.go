// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package house_test

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// requirementRows is the number of rows by document.
var requirementRows = map[string]int{"T": 146, "I": 31, "O": 41, "A": 17}

// rowNames matches the rows T3 and T5–T9 of "T3, T5–T9".
var rowNames = regexp.MustCompile(`\b([TIOA])(\d+)(?:–[TIOA](\d+))?\b`)

// TestRequirementsAreComplete checks that each row is listed once, with tests that exist.
func TestRequirementsAreComplete(t *testing.T) {
	const document = "docs/requirements.md"
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	known := testNames(t)
	name := regexp.MustCompile("`([^`]+)`")
	rows := map[string]int{}
	for _, entry := range strings.Split(string(text), "\n* ")[1:] {
		entry, _, _ = strings.Cut(entry, "\n\n")
		named, rest, _ := strings.Cut(strings.Join(strings.Fields(entry), " "), ": ")
		_, asserted, _ := strings.Cut(rest, " → ")
		tests := name.FindAllStringSubmatch(asserted, -1)
		assert.NotEmpty(t, tests, "%s: %s names no test", document, named)
		for _, match := range tests {
			assert.True(t, known[match[1]], "%s: the test %s of %s does not exist", document, match[1], named)
		}
		for _, row := range rowNames.FindAllStringSubmatch(named, -1) {
			first, last := number(t, row[2]), number(t, cmp.Or(row[3], row[2]))
			require.LessOrEqual(t, first, last, "%s: %s", document, named)
			for i := first; i <= last; i++ {
				rows[fmt.Sprint(row[1], i)]++
			}
		}
	}
	total := 0
	for letter, count := range requirementRows {
		total += count
		for i := 1; i <= count; i++ {
			row := fmt.Sprint(letter, i)
			assert.Equal(t, 1, rows[row], "%s: rows for %s", document, row)
		}
	}
	assert.Len(t, rows, total)
}

func number(t *testing.T, digits string) int {
	t.Helper()
	n, err := strconv.Atoi(digits)
	require.NoError(t, err)
	return n
}

// testNames returns the names of Go tests, of goldens and of files with other tests.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	names := map[string]bool{}
	for _, f := range files(t) {
		if strings.HasSuffix(f.path, "_test.go") {
			for _, match := range function.FindAllStringSubmatch(f.text, -1) {
				names[match[1]] = true
			}
		}
		if strings.HasPrefix(f.path, "agent/test/") {
			names[path.Base(f.path)] = true
		}
		if strings.HasSuffix(f.path, ".test.ts") {
			names[f.path] = true
		}
	}
	for _, pattern := range []string{"internal/engine/testdata/*.txt", "corpus/testdata/runs/*.answers.txt"} {
		goldens, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, golden := range goldens {
			names[filepath.Base(golden)] = true
		}
	}
	return names
}
