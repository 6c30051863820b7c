// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadview/store"
)

// incidentAt returns an incident in the window with a number.
func incidentAt(number int, blocked time.Duration) store.Incident {
	at := jvmthread.Time(number) * second
	return store.Incident{
		IncidentID: store.IncidentID{Start: at, First: 1}, End: at + jvmthread.Time(blocked), Name: "contention OrderBook", Text: "a held OrderBook", Blocked: blocked,
		Waits: []store.IncidentPart{{Start: at, End: at + jvmthread.Time(blocked), Thread: 1, Name: "matcher-1", Frames: []string{"com.acme.Book.add(Book.java:7)"}}},
	}
}

// starts returns when the incidents that a session has began, in seconds.
func starts(sn *store.Snapshot) (out []int) {
	for _, inc := range sn.Incidents {
		out = append(out, int(inc.Start/second))
	}
	return out
}

// Incidents stay when their windows are evicted, and the session with them, when it has ended.
func TestIncidentsOutliveTheirWindows(t *testing.T) {
	const limit = 1 << 20
	st, sym := store.New(limit, nil), newSymbols()
	job, service := st.Open(idOf(1), store.Meta{"service.name": "job"}), st.Open(idOf(2), nil)
	for n := range 100 {
		service.Append(windowOf(n, 4, 1000), sym)
		if n == 3 {
			service.AddIncident(incidentAt(n, time.Second))
		}
	}
	job.Append(windowOf(0, 2, 100), sym)
	job.AddIncident(incidentAt(0, time.Second))
	job.Close(window.CutEnd)
	for i := range 60 { // many short jobs: those that ended first lose their windows first
		other := st.Open(idOf(10+i), nil)
		other.Append(windowOf(0, 4, 200), sym)
		other.Close(window.CutEnd)
	}
	sn := service.Snapshot()
	assert.Greater(t, sn.From, 4*second)
	assert.Equal(t, []int{3}, starts(sn))
	kept := st.Session(idOf(1))
	require.NotNil(t, kept)
	sn = kept.Snapshot()
	assert.Equal(t, 1, sn.Evicted)
	assert.Equal(t, sn.To, sn.From)
	assert.Equal(t, []int{0}, starts(sn))
	assert.Equal(t, "job", sn.Meta["service.name"])
	assert.Equal(t, "com.acme.Book.add(Book.java:7)", sn.Incidents[0].Waits[0].Frames[0])
	assert.Less(t, sn.Bytes, int64(8<<10), "nothing but the incident is left")
	assert.LessOrEqual(t, st.Stats().Bytes, int64(limit))
	assert.Equal(t, 2, st.Stats().Incidents)

	again := st.Open(idOf(1), store.Meta{"service.name": "job"})
	again.Append(windowOf(5, 2, 100), sym)
	sn = again.Snapshot()
	assert.Equal(t, []int{0}, starts(sn))
	assert.Equal(t, 200, sn.Counts.Intervals)
	assert.Equal(t, st.Session(idOf(1)), again)
}

// A session keeps its newest incidents and, of the others, those that cost most, deadlocks before all.
func TestWorstAndNewestIncidentsStay(t *testing.T) {
	st := store.New(1<<30, nil)
	s := st.Open(sessionID, nil)
	const n = 500
	for i := range n {
		inc := incidentAt(i, time.Duration(1+i%100)*time.Millisecond)
		switch i {
		case 17:
			inc.Kind = store.KindDeadlock
		case 18:
			inc.Kind, inc.Blocked = store.KindPotentialDeadlock, 0
		}
		s.AddIncident(inc)
	}
	got := starts(s.Snapshot())
	assert.Len(t, got, store.MaxIncidents)
	for i := n - store.NewIncidents; i < n; i++ {
		assert.Contains(t, got, i)
	}
	for _, i := range []int{17, 18, 99, 199, 299, 399, 95, 395} {
		assert.Contains(t, got, i)
	}
	assert.Equal(t, n-store.MaxIncidents, int(st.Stats().Dropped))
	s.AddIncident(incidentAt(499, time.Hour))
	assert.Equal(t, got, starts(s.Snapshot()), "it replaces the one with its ID")
	assert.Equal(t, store.MaxIncidents, st.Stats().Incidents)
}

// Texts of a hostile JVM are cut, and their number is bounded.
func TestIncidentsAreBounded(t *testing.T) {
	st := store.New(1<<30, nil)
	s := st.Open(sessionID, nil)
	before := st.Stats().Bytes
	long := strings.Repeat("€", 100_000)
	part := store.IncidentPart{Name: long, Object: long, Text: long, Function: long, Trace: long, Span: long, Frames: slices.Repeat([]string{long}, 1000)}
	for i := range 100 {
		s.AddIncident(store.Incident{
			IncidentID: store.IncidentID{Start: jvmthread.Time(i)}, Name: long, Text: long, Object: long, Waiters: long, Cast: make([]jvmthread.ThreadID, 1000), Requests: make([][16]byte, 1000), Waits: slices.Repeat([]store.IncidentPart{part}, 100), Holds: slices.Repeat([]store.IncidentPart{part}, 100),
		})
	}
	assert.Less(t, st.Stats().Bytes-before, int64(store.MaxIncidents*(36<<10)))
	assert.Len(t, s.Snapshot().Incidents[0].Cast, store.MaxIncidentCast)
	assert.Equal(t, 1000-store.MaxIncidentCast, s.Snapshot().Incidents[0].More)
	assert.Equal(t, strings.Repeat("€", 100)+"...", s.Snapshot().Incidents[0].Text)
}

// Whatever sessions do, incidents take at most their part of the store, windows take nothing from them, and a live session with less than an
// equal part of it loses none except to newer ones of its own.
func TestQuietSessionsKeepTheirIncidents(t *testing.T) {
	const limit = 2 << 20
	dropped := 0
	for seed := range uint64(15) {
		rng := rand.New(rand.NewPCG(seed, 2))
		st, sym := store.New(limit, nil), newSymbols()
		type one struct {
			*store.Session
			n, noise int
		}
		var live []*one
		opened := 0
		for range 1500 {
			before := map[jvmthread.SessionID][]int{}
			bytes := map[jvmthread.SessionID]int64{}
			for _, sn := range st.Sessions() {
				if len(sn.Incidents) > 0 {
					before[sn.ID], bytes[sn.ID] = starts(sn), st.Session(sn.ID).KeptBytes()
				}
			}
			var added jvmthread.SessionID
			switch {
			case len(live) == 0 || len(live) < 12 && rng.IntN(20) == 0:
				opened++
				live = append(live, &one{Session: st.Open(idOf(opened), nil), noise: 1 << rng.IntN(6)})
			case rng.IntN(60) == 0:
				i := rng.IntN(len(live))
				live[i].Close(window.CutEnd)
				live = append(live[:i], live[i+1:]...)
			default:
				o := live[rng.IntN(len(live))]
				o.Append(windowOf(o.n, 4, 16*o.noise), sym)
				for range rng.IntN(o.noise) / 8 {
					inc := incidentAt(o.n, time.Duration(1+rng.IntN(1e9)))
					inc.First = jvmthread.ThreadID(1 + rng.IntN(1000))
					o.AddIncident(inc)
				}
				added = o.Snapshot().ID
				o.n++
			}
			for id, was := range before {
				s := st.Session(id)
				if id == added || s != nil && len(s.Snapshot().Incidents) == len(was) {
					continue
				}
				dropped++
				assert.True(t, s == nil || !s.Snapshot().Live || bytes[id] > limit/store.AllIncidents/int64(len(before)+1),
					"program %d: a live session with %d bytes lost incidents to others", seed, bytes[id])
			}
			require.LessOrEqual(t, st.KeptBytes(), int64(limit)/store.AllIncidents, "program %d", seed)
			require.LessOrEqual(t, st.Stats().Bytes, int64(limit), "program %d", seed)
		}
		var sum, kept int64
		count := 0
		for _, sn := range st.Sessions() {
			sum += sn.Bytes
			kept += st.Session(sn.ID).KeptBytes()
			count += len(sn.Incidents)
		}
		require.Equal(t, st.Stats().Bytes, sum, "program %d", seed)
		require.Equal(t, st.KeptBytes(), kept, "program %d", seed)
		require.Equal(t, st.Stats().Incidents, count, "program %d", seed)
	}
	assert.Greater(t, dropped, 100, "the programs do not try enough")
}

// The incidents of a quiet session stay, whatever a noisy one does and for however long.
func TestNoisySessionTakesNoIncidents(t *testing.T) {
	st, sym := store.New(4<<20, nil), newSymbols()
	quiet, ended, noisy := st.Open(idOf(1), nil), st.Open(idOf(2), nil), st.Open(idOf(3), nil)
	for i := range 20 {
		quiet.AddIncident(incidentAt(i, time.Millisecond))
		ended.AddIncident(incidentAt(i, time.Millisecond))
	}
	ended.Close(window.CutEnd)
	for n := range 300 {
		noisy.Append(windowOf(n, 10, 1000), sym)
		for i := range 20 {
			inc := incidentAt(n, time.Hour)
			inc.First = jvmthread.ThreadID(i)
			inc.Text = strings.Repeat("x", 300)
			inc.Waits = slices.Repeat(inc.Waits, store.MaxIncidentWaits)
			noisy.AddIncident(inc)
		}
	}
	assert.Len(t, quiet.Snapshot().Incidents, 20)
	assert.Len(t, ended.Snapshot().Incidents, 20)
	assert.Positive(t, st.Stats().Dropped)
}
