// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// virtualJDKs returns what has virtual threads: the newest JDK and, because virtual threads are pinned more often there, one of 21 to 23. If none is
// installed, that is a Java runtime of 21, which has no compiler.
func virtualJDKs(t *testing.T) []jdk {
	t.Helper()
	newest := jdks[len(jdks)-1]
	require.GreaterOrEqual(t, newest.major, 24, "install a JDK 24 or newer")
	at := slices.IndexFunc(jdks, func(j jdk) bool { return j.major >= 21 && j.major < 24 })
	if at >= 0 {
		return []jdk{jdks[at], newest}
	}
	out, err := exec.Command(root+"/scripts/jres.sh", built("jre"), "21").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return []jdk{{built("jre/21"), 21}, newest}
}
