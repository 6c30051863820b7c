// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// A range with too many intervals for a path is refused with one that works, whatever the range.
func TestRefusedRangeNamesOneThatWorks(t *testing.T) {
	const second = jvmthread.Time(time.Second)
	st, sym := store.New(1<<30, nil), symbols.New(symbols.DefaultLimits())
	s := st.Open(sessionID, nil)
	for n := range jvmthread.Time(50) {
		w := &window.Window{Start: n * second, End: (n + 1) * second, Cut: window.CutTime}
		for th := range jvmthread.ThreadID(4) {
			lane := &window.Lane{Thread: th + 1}
			count := 10 + 10*(n%7)
			for i := range count {
				at := w.Start + i*(second/count)
				lane.Intervals.Append(&jvmthread.Interval{
					Thread: th + 1, Seq: jvmthread.Seq(n*1000 + i + 1), State: jvmthread.StateRunnable + jvmthread.State(i%2), Start: at, End: at + second/count,
				})
			}
			w.Lanes = append(w.Lanes, lane)
		}
		s.Append(w, sym)
	}
	view := server.New(st, server.Config{PathIntervals: 1000})
	t.Cleanup(view.Close)
	ask := func(from, to string) (int, string) {
		r := httptest.NewRequest(http.MethodGet, fmt.Sprintf("/api/sessions/%s/path?from=%s&to=%s", sessionID, from, to), http.NoBody)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		view.Handler().ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	remedy := regexp.MustCompile(`choose a shorter range, such as its last ([\d.]+) s: from=(\d+), to=(\d+)`)
	for _, to := range []string{"50000000000", "31500000000", "20000000001"} {
		status, body := ask("0", to)
		require.Equal(t, http.StatusUnprocessableEntity, status)
		found := remedy.FindStringSubmatch(body)
		require.NotNil(t, found, body)
		assert.Equal(t, to, found[3])
		status, body = ask(found[2], found[3])
		assert.Equal(t, http.StatusOK, status, body)
	}
	status, body := ask("0", "40000000000")
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, body, "its last ")
}
