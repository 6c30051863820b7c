// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
)

const stale = "run: go generate ./internal/wire"

func TestHeaderIsCurrent(t *testing.T) {
	got, err := os.ReadFile("../../../agent/src/wire/wire_kinds.h")
	require.NoError(t, err)
	assert.Equal(t, string(cHeader()), string(got), stale)
}

func TestSpecificationIsCurrent(t *testing.T) {
	got, err := os.ReadFile("../../../protocol/README.md")
	require.NoError(t, err)
	want, err := fillSpec(got)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), stale)
}

func TestTablesHoldEachKindOnceInOrder(t *testing.T) {
	var kinds []jvmthread.Kind
	for k := range jvmthread.Kind(jvmthread.NumKinds) {
		if k.Valid() {
			kinds = append(kinds, k)
		}
	}
	require.Len(t, wire.Events, len(kinds))
	for i, e := range wire.Events {
		assert.Equal(t, kinds[i], e.Kind, "%s", e.Kind)
	}
	for i := 1; i < len(wire.Frames); i++ {
		assert.Greater(t, wire.Frames[i].Kind, wire.Frames[i-1].Kind)
	}
}

func TestFillReportsMissingMarker(t *testing.T) {
	_, err := fillSpec([]byte("nothing"))
	require.EqualError(t, err, `no marker "<!-- frames: generated -->"`)
	_, err = fillSpec([]byte("<!-- frames: generated -->\n"))
	require.EqualError(t, err, `no marker "<!-- end -->" after "<!-- frames: generated -->"`)
}

func TestScreaming(t *testing.T) {
	assert.Equal(t, "CONTENDED_ENTER", screaming("contendedEnter"))
	assert.Equal(t, "WAIT", screaming("wait"))
}
