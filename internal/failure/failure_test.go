// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package failure_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/failure"
)

// Without ContainIn, a test does not survive a panic.
func TestPanicsAreLoudInTests(t *testing.T) {
	assert.PanicsWithValue(t, "defect", func() { _ = failure.Contain(func() { panic("defect") }) })
	assert.Nil(t, failure.Contain(func() {}))
}

func fall() { panic(errors.New("out of order")) }

func TestContain(t *testing.T) {
	failure.ContainIn(t)
	assert.Nil(t, failure.Contain(func() {}))
	p := failure.Contain(fall)
	require.NotNil(t, p)
	assert.Regexp(t, `^panic: out of order \(failure_test.go:\d+\)$`, p.Error())
	assert.Contains(t, p.Stack[0], "failure_test.fall", "the function that panicked comes first")
	assert.Contains(t, p.Stack[1], "failure_test.go:")
}

// The runtime's own panics are contained, too, and with the place where they happened.
func TestContainRuntimeErrors(t *testing.T) {
	failure.ContainIn(t)
	var none *strings.Builder
	p := failure.Contain(func() { none.Len() })
	require.NotNil(t, p)
	assert.Contains(t, p.Value, "nil pointer dereference")
	assert.Contains(t, p.Stack[0], "strings.(*Builder).Len")
}

func deep(n int) {
	if n == 0 {
		panic(strings.Repeat("ü", 10_000))
	}
	deep(n - 1)
}

// A log line can hold what is kept of a panic.
func TestPanicIsBounded(t *testing.T) {
	failure.ContainIn(t)
	p := failure.Contain(func() { deep(1000) })
	require.NotNil(t, p)
	assert.Equal(t, strings.Repeat("ü", 512)+"…", p.Value)
	assert.Len(t, p.Stack, 101)
	assert.Contains(t, p.Stack[100], " more lines")
}

func TestContainAllocatesNothing(t *testing.T) {
	failure.ContainIn(t)
	n := 0
	assert.Zero(t, testing.AllocsPerRun(100, func() { _ = failure.Contain(func() { n++ }) }))
}
