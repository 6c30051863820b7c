// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCommandsAreDocumented checks that docs/weft.md lists each command, and no others.
func TestCommandsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/weft.md")
	require.NoError(t, err)
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `weft .*?` \\|").FindAllString(string(text), -1) {
		for _, match := range regexp.MustCompile("`weft ([a-z]+)").FindAllStringSubmatch(row, -1) {
			listed[match[1]] = true
		}
	}
	all := map[string]bool{"completion": true} // which cobra adds
	for _, cmd := range Root(&Program{}).Commands() {
		all[cmd.Name()] = true
	}
	assert.Equal(t, all, listed)
}
