// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// incidentServer serves a session with incidents, and returns what asks it for them.
func incidentServer(t *testing.T, list []store.Incident) func(query string) (viewapi.Incidents, int, string) {
	t.Helper()
	st := store.New(math.MaxInt64, nil)
	s := st.Open(sessionID, nil)
	for i := range list {
		s.AddIncident(list[i])
	}
	view := server.New(st, server.Config{})
	t.Cleanup(view.Close)
	return func(query string) (out viewapi.Incidents, size int, problem string) {
		r := httptest.NewRequest(http.MethodGet, "/api/sessions/"+sessionID.String()+"/incidents?"+query, http.NoBody)
		r.Host = "localhost"
		w := httptest.NewRecorder()
		view.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			return out, 0, w.Body.String()
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &out))
		return out, w.Body.Len(), ""
	}
}

// Filters, order and sums agree with a plain count over all incidents.
func TestIncidentFilters(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var all []store.Incident
	for i := range store.MaxIncidents {
		thread := jvmthread.ThreadID(1 + rng.IntN(5))
		inc := store.Incident{
			IncidentID: store.IncidentID{Kind: store.Kinds()[rng.IntN(len(store.Kinds()))], Start: jvmthread.Time(i * 1000), First: thread},
			End:        jvmthread.Time(i*1000 + 500), Object: []string{"OrderBook", "HikariPool"}[rng.IntN(2)], Blocked: time.Duration(rng.IntN(1e9)),
			Holds: []store.IncidentPart{{Thread: thread, Name: fmt.Sprintf("Matcher-%d", thread)}}, Cast: []jvmthread.ThreadID{thread, 100 + thread},
		}
		inc.Requests = append(inc.Requests, [16]byte{15: byte(rng.IntN(4))})
		all = append(all, inc)
	}
	ask := incidentServer(t, all)
	tests := []struct {
		query string
		match func(inc *store.Incident) bool
	}{
		{"", func(*store.Incident) bool { return true }},
		{"lock=orderb", func(inc *store.Incident) bool { return inc.Object == "OrderBook" }},
		{"thread=matcher-3", func(inc *store.Incident) bool { return inc.First == 3 }},
		{"threads=102,104-105", func(inc *store.Incident) bool { return inc.First == 2 || inc.First >= 4 }},
		{"request=" + strings.Repeat("0", 31) + "2", func(inc *store.Incident) bool { return inc.Requests[0][15] == 2 }},
		{"q=orderb", func(inc *store.Incident) bool { return inc.Object == "OrderBook" }},
		{"q=Matcher-3", func(inc *store.Incident) bool { return inc.First == 3 }},
		{"q=" + strings.Repeat("0", 31) + "2", func(inc *store.Incident) bool { return inc.Requests[0][15] == 2 }},
		{"from=10500&to=20001", func(inc *store.Incident) bool { return inc.Start >= 11_000 && inc.Start <= 20_000 }},
		{"lock=hikari&thread=MATCHER-1&threads=1", func(inc *store.Incident) bool { return inc.Object == "HikariPool" && inc.First == 1 }},
		{"lock=none", func(*store.Incident) bool { return false }},
	}
	for _, test := range tests {
		for _, kinds := range [][]string{nil, {"deadlock"}, {"lost_notify", "contention"}} {
			for _, order := range []string{"blocked", "from"} {
				query := test.query + "&sort=" + order
				if kinds != nil {
					query += "&kind=" + url.QueryEscape(strings.Join(kinds, ","))
				}
				sums := map[string]*viewapi.IncidentKind{}
				var want []int64
				for i := range all {
					inc := &all[i]
					if !test.match(inc) {
						continue
					}
					sum := sums[inc.Kind]
					if sum == nil {
						sum = &viewapi.IncidentKind{Kind: inc.Kind, Since: int64(inc.Start)}
						sums[inc.Kind] = sum
					}
					sum.Total++
					sum.Blocked += int64(inc.Blocked)
					if kinds == nil || slices.Contains(kinds, inc.Kind) {
						want = append(want, int64(inc.Start))
					}
				}
				got, _, problem := ask(query)
				require.Empty(t, problem)
				require.Equal(t, len(want), got.Total, query)
				require.Len(t, got.Kinds, len(sums), query)
				for _, kind := range got.Kinds {
					require.Equal(t, *sums[kind.Kind], kind, query)
				}
				var starts []int64
				for i, inc := range got.Incidents {
					starts = append(starts, inc.From)
					if i > 0 && order == "from" {
						require.Less(t, inc.From, got.Incidents[i-1].From, query)
					} else if before := got.Incidents[max(0, i-1)]; before.Deadlock == inc.Deadlock {
						require.True(t, order == "from" || inc.Blocked <= before.Blocked, query)
					} else {
						require.True(t, order == "from" || before.Deadlock, "%s: deadlocks come first", query)
					}
				}
				require.ElementsMatch(t, want, starts, query)
			}
		}
	}
	first, _, _ := ask("sort=from&limit=2")
	second, _, _ := ask("sort=from&limit=2&offset=1")
	require.Len(t, first.Incidents, 2)
	assert.Equal(t, first.Incidents[1], second.Incidents[0])
	assert.Equal(t, []uint64{uint64(all[63].First), uint64(100 + all[63].First)}, first.Incidents[0].Cast)
	for query, want := range map[string]string{
		"kind=nonsense": "want some of deadlock, contention", "request=12": "32 hexadecimal digits", "request=" + strings.Repeat("é", 16): "32 hexadecimal digits",
		"threads=x": "want ids", "lock=a&lock=b": "at most once", "sort=cost": "want one of blocked, from", "lock=" + strings.Repeat("x", 5000): "longer than",
	} {
		_, _, problem := ask(query)
		assert.Contains(t, problem, want, query)
	}
}

// Incidents with many long texts are spread over several pages.
func TestIncidentPagesAreSmall(t *testing.T) {
	var all []store.Incident
	frames := slices.Repeat([]string{strings.Repeat("com.acme.", 30)}, store.MaxIncidentFrames)
	for i := range store.MaxIncidents {
		part := store.IncidentPart{Text: strings.Repeat("x", 300), Frames: frames}
		all = append(all, store.Incident{
			IncidentID: store.IncidentID{Start: jvmthread.Time(i)}, End: jvmthread.Time(i + 1), Cast: make([]jvmthread.ThreadID, store.MaxIncidentCast),
			Waits: slices.Repeat([]store.IncidentPart{part}, store.MaxIncidentWaits), Holds: slices.Repeat([]store.IncidentPart{part}, store.MaxIncidentHolds),
		})
	}
	ask := incidentServer(t, all)
	var got []int64
	for len(got) < len(all) {
		page, size, problem := ask(fmt.Sprintf("sort=from&offset=%d", len(got)))
		require.Empty(t, problem)
		require.Equal(t, len(all), page.Total)
		require.NotEmpty(t, page.Incidents)
		require.LessOrEqual(t, size, 200_000)
		for i := range page.Incidents {
			got = append(got, page.Incidents[i].From)
		}
	}
	for i, from := range got {
		require.Equal(t, int64(len(all)-1-i), from)
	}
}
