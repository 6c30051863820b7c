// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/threadtest"
)

// A deadlock never ends: each cut adds an incident. None keeps those before it.
func TestRestForgetsWhatWasReported(t *testing.T) {
	t.Parallel()
	h, err := threadtest.Parse(`
0 A threadStart
0 B threadStart
0 C threadStart
10 A contendedEnter lock=L owner=B
20 B contendedEnter lock=R owner=A
10000 C yield
`)
	require.NoError(t, err)
	f := incident.NewFinder(incident.Options{MaxPerWindow: 20})
	f.CutAfter(100)
	var reported []weak.Pointer[incident.Incident]
	run(h.Symbols(), h.Events, 100*time.Nanosecond, func(w *window.Window) {
		for _, inc := range f.Find(w).Incidents {
			reported = append(reported, weak.Make(inc))
		}
	})
	require.Greater(t, len(reported), 20)
	runtime.GC()
	kept := 0
	for _, p := range reported {
		if p.Value() != nil {
			kept++
		}
	}
	assert.LessOrEqual(t, kept, 1, "of %d incidents; the last one is in the result", len(reported))
	runtime.KeepAlive(f)
}
