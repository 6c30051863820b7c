// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// An attach takes options one by one.
func TestOptionsAreSingle(t *testing.T) {
	for _, option := range detailed {
		assert.Regexp(t, "^[a-z-]+=[a-z]+$", option)
	}
}
