// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package criticalpath

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The page and the commands use the same words.
func TestTitlesAreThoseOfThePage(t *testing.T) {
	const words = "../../../web/src/lib/words.ts"
	text, err := os.ReadFile(words)
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\nconst pieces: ")
	if !found {
		t.Fatalf("%s has no table pieces", words)
	}
	table, _, _ = strings.Cut(table, "\n};")
	page := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^ {2}(\w+): "([^"]+)",$`).FindAllStringSubmatch(table, -1) {
		page[row[1]] = row[2]
	}
	own := map[string]string{}
	for k := range kindEnd {
		own[k.String()] = k.Title()
	}
	if diff := cmp.Diff(own, page); diff != "" {
		t.Errorf("Go - %s +:\n%s", words, diff)
	}
}
