// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
	"github.com/weft-otel/weft/internal/viewapi"
)

// What is compared of a range is what the table of methods has of it, to the nanosecond.
func TestComparisonHasTheSumsOfTheTables(t *testing.T) {
	type key struct{ kind, object, function string }
	for seed := range uint64(8) {
		f := newFixture(t, seed, 10, 4, 1500, 700)
		all := ask[viewapi.Session](f, "")
		middle := (all.From + all.To) / 2
		sums := func(from, to int64) map[key]viewapi.StateTime {
			out := map[key]viewapi.StateTime{}
			for _, kind := range []string{"blocked", "waited", "reenter", "parked", "joined"} {
				for _, row := range ask[viewapi.Callers](f, fmt.Sprintf("/callers?kind=%s&from=%d&to=%d&limit=200", kind, from, to)).Callers {
					if row.Wait == "idle" || row.Wait == "sleep" || row.Wait == "timer" {
						continue
					}
					k := key{row.Wait, row.Name, row.Method}
					sum := out[k]
					sum.Count += row.Stats.Count
					sum.Time += row.Stats.Time
					out[k] = sum
				}
			}
			return out
		}
		before, after := sums(all.From, middle), sums(middle, all.To)
		c := ask[viewapi.Comparison](f, fmt.Sprintf("/compare?from=%d&limit=200", middle))
		assert.Equal(t, []int64{all.From, middle, middle, all.To}, []int64{c.BeforeFrom, c.BeforeTo, c.From, c.To}, "by default what was before")
		assert.Equal(t, "second", c.Unit)
		require.NotEmpty(t, c.Changes)
		var sum [2]viewapi.StateTime
		for i := range c.Changes {
			row := &c.Changes[i]
			sum[0].Count, sum[0].Time = sum[0].Count+row.Before.Count, sum[0].Time+row.Before.Time
			sum[1].Count, sum[1].Time = sum[1].Count+row.After.Count, sum[1].Time+row.After.Time
			if row.Longest == nil && row.BeforeLongest == nil {
				t.Errorf("%+v: no wait to look at", row)
			}
			if row.Longest != nil {
				iv := ask[viewapi.Interval](f, fmt.Sprintf("/interval?thread=%d&seq=%d", row.Longest.Thread.ID, row.Longest.Seq))
				assert.Equal(t, row.Kind, iv.Wait)
			}
		}
		total := func(m map[key]viewapi.StateTime) (out viewapi.StateTime) {
			for _, s := range m {
				out.Count, out.Time = out.Count+s.Count, out.Time+s.Time
			}
			return out
		}
		assert.Equal(t, total(before).Time, sum[0].Time, "program %d", seed)
		assert.Equal(t, total(after).Time, sum[1].Time, "program %d", seed)
		assert.Equal(t, total(after), c.Sum.After, "program %d", seed)
		assert.Equal(t, sum[1], c.Sum.After)
		assert.Equal(t, sum[0], c.Sum.Before)
	}
}

func TestComparisonWithItselfIsTheSame(t *testing.T) {
	f := newFixture(t, 3, 10, 4, 1500, 700)
	id := ask[viewapi.Session](f, "").ID
	c := ask[viewapi.Comparison](f, "/compare?before_from=0&before_to=1000000&before="+id+"&from=0&to=1000000&requests=5&before_requests=5")
	assert.Equal(t, "request", c.Unit)
	assert.Equal(t, id, c.Session)
	assert.Equal(t, c.Total, c.Same)
	assert.Equal(t, "same", c.Sum.Verdict)
	assert.Zero(t, c.Sum.Difference)
}

func TestComparisonOfBadParameters(t *testing.T) {
	f := newFixture(t, 1, 4, 2, 200, 500)
	other := f.store.Open(jvmthread.SessionID{9}, store.Meta{})
	other.Append(&window.Window{Start: 5, End: 10, Cut: window.CutTime}, f.symbols)
	for query, want := range map[string]string{
		"":                               "before_to: no data",
		"?before=12":                     "before: no such session",
		"?before=" + hexID(8):            "before: no such session",
		"?from=9&before_to=5&requests=0": "requests: want an integer from 1",
		"?from=9&before_to=nine":         "before_to: want an integer",
		"?threads=1&before=" + hexID(9):  "threads: the sessions have different threads",
		"?from=9&sort=speed":             "sort: unknown field",
	} {
		status, body := f.get("sessions/" + sessionID.String() + "/compare" + query)
		assert.GreaterOrEqual(t, status, http.StatusBadRequest, query)
		assert.Contains(t, string(body), want, query)
	}
}

// A browser asks again when either session changed.
func TestComparisonChangesWithBothSessions(t *testing.T) {
	f := newFixture(t, 1, 4, 2, 200, 500)
	other := f.store.Open(jvmthread.SessionID{9}, store.Meta{})
	other.Append(&window.Window{Start: 5, End: 10, Cut: window.CutTime}, f.symbols)
	tag := func() string {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/api/sessions/"+sessionID.String()+"/compare?before="+hexID(9), http.NoBody)
		w := httptest.NewRecorder()
		f.view.Handler().ServeHTTP(w, r)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		return w.Header().Get("ETag")
	}
	old := tag()
	assert.Equal(t, old, tag())
	other.Append(&window.Window{Start: 10, End: 20, Cut: window.CutTime}, f.symbols)
	assert.NotEqual(t, old, tag())
}

func hexID(first byte) string { return jvmthread.SessionID{first}.String() }
