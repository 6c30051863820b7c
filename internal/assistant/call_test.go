// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package assistant

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/failure"
)

// A tool that panics answers with an error, and gives its place to others.
func TestPanicOfATool(t *testing.T) {
	failure.ContainIn(t)
	s := &tools{calls: make(chan struct{}, 1)}
	for range 2 {
		err := s.call(t.Context(), func(context.Context) error { panic("bug") })
		require.ErrorContains(t, err, "a defect in Weft, please report it: panic: bug (call_test.go:")
	}
	require.NoError(t, s.call(t.Context(), func(context.Context) error { return nil }))
}
