// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package incident_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/incident"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadtest"
)

// The cast is the holder that cost most, other holders that cost much, and then waiters in the order in which they began to wait, whatever their IDs, and also
// if that was in another window.
func TestCast(t *testing.T) {
	text := `
0   D threadStart
0   C threadStart
0   B threadStart
0   A threadStart
100 B contendedEnter lock=M owner=A
200 C contendedEnter lock=M owner=A
250 D contendedEnter lock=M owner=A
300 B contendedEntered lock=M
900 C contendedEntered lock=M
910 D contendedEntered lock=M
`
	for _, length := range []time.Duration{1000, 150} {
		h, err := threadtest.Parse(text)
		require.NoError(t, err)
		f := incident.NewFinder(incident.Options{MinTime: 1, MaxPerWindow: 20})
		var got []string
		run(nil, h.Events, length, func(w *window.Window) {
			for _, inc := range f.Find(w).Incidents {
				cast, more := inc.Cast(3)
				got = append(got, fmt.Sprintf("%s and %d", castNames(h, cast), more))
				cast, more = inc.Cast(100)
				got = append(got, fmt.Sprintf("%s and %d", castNames(h, cast), more))
			}
		})
		// B held it for longest, then A, then C; B waited, too. D never held it while another one waited.
		assert.Equal(t, []string{"B A C and 1", "B A C D and 0"}, got, "windows of %v", length)
	}
}

// The threads of a deadlock come first, in the order of its cycle.
func TestCastOfDeadlock(t *testing.T) {
	h, err := threadtest.Parse(`
0    C threadStart
0    A threadStart
0    B threadStart
100  C contendedEnter lock=N owner=B
110  A contendedEnter lock=M owner=B
120  B contendedEnter lock=N owner=A
3000000000 C yield
`)
	require.NoError(t, err)
	f := incident.NewFinder(incident.DefaultOptions())
	var got []string
	run(nil, h.Events, time.Second, func(w *window.Window) {
		for _, inc := range f.Find(w).Incidents {
			if inc.Kind == incident.Deadlock && !inc.Rest {
				cast, _ := inc.Cast(100)
				got = append(got, castNames(h, cast))
			}
		}
	})
	assert.Equal(t, []string{"A B C"}, got)
}

func castNames(h *threadtest.History, cast []jvmthread.ThreadID) string {
	var out []string
	for _, id := range cast {
		for _, name := range []string{"A", "B", "C", "D"} {
			if h.Thread(name) == id {
				out = append(out, name)
			}
		}
	}
	return strings.Join(out, " ")
}

// Waiters that held the lock for a moment when it was their turn stay in the order in which they began to wait.
func TestCastOfTurns(t *testing.T) {
	h, err := threadtest.Parse(`
0    D threadStart
0    C threadStart
0    B threadStart
0    A threadStart
100  D contendedEnter lock=M owner=A
110  C contendedEnter lock=M owner=A
120  B contendedEnter lock=M owner=A
9000 C contendedEntered lock=M
9009 B contendedEntered lock=M
9020 D contendedEntered lock=M
`)
	require.NoError(t, err)
	f := incident.NewFinder(incident.Options{MinTime: 1, MaxPerWindow: 20})
	var got []string
	run(nil, h.Events, 10_000, func(w *window.Window) {
		for _, inc := range f.Find(w).Incidents {
			cast, _ := inc.Cast(10)
			got = append(got, castNames(h, cast))
		}
	})
	assert.Equal(t, []string{"A D C B"}, got)
}
