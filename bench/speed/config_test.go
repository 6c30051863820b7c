// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// variable is an environment variable with a default.
var variable = regexp.MustCompile(`\$\{env:\w+:-(\w+)\}`)

// The rows named after a configuration run its engine.
func TestEnginesAreThoseOfTheConfigurations(t *testing.T) {
	for name, p := range map[string]parts{"metrics": {contention: true, threadSpan: true}, "all-in-one": {threadSpan: true, page: true}} {
		text, err := os.ReadFile("../../config/" + name + ".yaml")
		require.NoError(t, err)
		text = variable.ReplaceAll(text, []byte("$1"))
		_, engine, ok := strings.Cut(p.config(addresses{}), "thread_engine: {")
		require.True(t, ok)
		engine, _, _ = strings.Cut(engine, "}")
		for option := range strings.SplitSeq(engine, ", ") {
			assert.Contains(t, string(text), "\n    "+option+"\n", name)
		}
	}
}
