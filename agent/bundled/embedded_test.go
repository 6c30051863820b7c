// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build bundled && linux

package bundled

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/agent/attach"
)

func TestEachPlatformIsEmbedded(t *testing.T) {
	atHome(t)
	for _, machine := range []string{"x86_64", "aarch64"} {
		for _, libc := range []string{"glibc", "musl"} {
			want := attach.Platform{Machine: machine, Libc: libc}
			file, err := Library(want)
			require.NoError(t, err)
			got, err := attach.PlatformOfProgram(file)
			require.NoError(t, err)
			assert.Equal(t, want, got)
			assert.True(t, strings.HasSuffix(file, want.String()+".so"))
		}
	}
	_, err := Library(attach.Platform{Machine: "s390x", Libc: "glibc"})
	require.ErrorContains(t, err, "no agent for linux-s390x")
}
