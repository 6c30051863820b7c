// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// A file that makes the engine panic is restored once only, and kept for a report.
func TestFilesThatFailAreSetAside(t *testing.T) {
	failure.ContainIn(t)
	folder := t.TempDir()
	a, err := Open(folder, math.MaxInt64)
	require.NoError(t, err)
	for i := range 2 {
		keep(t, a, store.New(math.MaxInt64, nil), jvmthread.SessionID{0: 1, 15: byte(i)}, threadtest.Simulate(uint64(i), 8, 3, 200).Events, "")
	}
	a, err = Open(folder, math.MaxInt64)
	require.NoError(t, err)
	st := store.New(math.MaxInt64, nil)
	defective := config()
	defective.Window = 0 // divides by it
	_, err = a.Restore(st, defective)
	require.ErrorContains(t, err, "a defect in Weft; please report it with the file, which is now "+filepath.Join(folder, failedName)+": panic: ")
	for _, s := range st.Sessions() {
		assert.False(t, s.Live)
		assert.Equal(t, window.CutFailed, s.Ended)
	}
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, left, 1, "the last one, so that they do not fill the disk")
	assert.Equal(t, failedName, left[0].Name())
	assert.Zero(t, a.bytes)

	a, err = Open(folder, math.MaxInt64)
	require.NoError(t, err)
	found, err := a.Restore(st, defective)
	require.NoError(t, err)
	assert.Zero(t, found.Files)
}
