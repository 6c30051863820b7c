// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/e2e/runtimes"
)

// virtualJDKs returns what has virtual threads: the newest JDK, and one of 21 to 23.
func virtualJDKs(t *testing.T) (list []jdk) {
	t.Helper()
	found, err := runtimes.Virtual(root, runtimes.JDKs())
	require.NoError(t, err)
	for _, j := range found {
		list = append(list, jdk{j.Home, j.Major})
	}
	return list
}
