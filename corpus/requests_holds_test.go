// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/corpus/spantest"
	"github.com/weft-otel/weft/internal/viewapi"
)

// holding are the names of what the program holds, by the lock that its threads wait for.
var holding = map[string]string{"Inventory.lock": "Inventory.lock", "Prices.lock": "Prices.lock", "ConcurrentBag.handoffQueue": "HikariPool"}

// checkHolders checks that each link leads to a request that held what the wait was for. It may lead to a span that was current for a part of
// the time, such as that of a statement in the database, so only the traces are compared.
func (s served) checkHolders(t spantest.T) {
	t.Helper()
	all := map[string]int{}
	for _, wait := range s.Added {
		of := holding[wait.Text("weft.lock.name")]
		if of == "" || !wait.Has("weft.wait.time") {
			continue
		}
		holders := s.during(of, wait.Begin(), int64(wait.EndTimestamp()))
		links := append(linked(wait.Links(), "holder_context"), linked(wait.Links(), "owner_context")...)
		all[of]++
		assert.False(t, len(links) == 0 && slices.ContainsFunc(holders, func(h spantest.Hold) bool { return heldDuring(h, wait) }),
			"%s %s: a request held it, but there is no link: %s", wait.TraceID(), wait.Name(), wait.Text("weft.explanation"))
		for _, l := range links {
			assert.True(t, slices.ContainsFunc(holders, func(h spantest.Hold) bool { return h.Trace == l.Trace }),
				"%s %s: %s held by %v", wait.TraceID(), wait.Name(), wait.Text("weft.explanation"), l)
		}
	}
	for _, of := range []string{"Inventory.lock", "Prices.lock"} {
		assert.Positive(t, all[of], of)
	}
}

// heldDuring reports whether another request held a lock while a thread waited for it, beyond doubt.
func heldDuring(h spantest.Hold, wait *spantest.Span) bool {
	const beyondDoubt = int64(time.Millisecond) // for clocks
	other := h.Span != "0000000000000000" && h.Trace != wait.TraceID().String()
	return other && h.Of != "HikariPool" && min(h.Released, int64(wait.EndTimestamp()))-max(h.Acquired, wait.Begin()) > beyondDoubt
}

// checkHolds checks that the spans of holds are those of holds of the program, and are not longer: the JVM does not report the release of a
// monitor, and a thread that takes one without having waited is seen only when the next one waits for it. A span covers the part after the
// holder's own last wait, so this compares the time in its attributes.
func (s served) checkHolds(t spantest.T) {
	t.Helper()
	all, shown, held := 0, int64(0), int64(0)
	for _, hold := range s.Added {
		of := holding[hold.Text("weft.lock.name")]
		if !hold.Has("weft.lock.held.time") || of == "" || of == "HikariPool" {
			continue
		}
		all++
		end := int64(hold.EndTimestamp())
		begin := end - hold.Number("weft.lock.held.time")
		known := int64(0)
		for _, h := range s.during(of, begin, end) {
			if h.Trace == hold.TraceID().String() {
				known += max(0, min(end, h.Released)-max(begin, h.Acquired))
			}
		}
		assert.Positive(t, known, "%s held %s for %v until %d, but not according to the program", hold.Text("thread.name"), of, time.Duration(end-begin), end)
		shown += end - begin
		held += known
	}
	require.Positive(t, all)
	assert.GreaterOrEqual(t, float64(held), 0.9*float64(shown))
}

// during returns who held something during a time. A thread may be preempted between the program's clock and the lock, so a lock that has one
// holder is held from the release before it was acquired until the acquisition after it was released.
func (s served) during(of string, from, to int64) (found []spantest.Hold) {
	const tolerance = int64(time.Millisecond)
	all := s.Of[of]
	for i, h := range all {
		if of != "HikariPool" && i > 0 {
			h.Acquired = min(h.Acquired, all[i-1].Released)
		}
		if of != "HikariPool" && i+1 < len(all) {
			h.Released = max(h.Released, all[i+1].Acquired)
		}
		if h.Acquired < to+tolerance && h.Released > from-tolerance {
			found = append(found, h)
		}
	}
	return found
}

// checkPage compares the slowest requests that the page lists with the spans that the Java agent exported, and with the waits that the program
// measured.
func (s served) checkPage(t spantest.T, r *run) {
	t.Helper()
	body, err := r.played.get("/api/sessions/" + r.sessionOnPage(t) + "/requests?limit=100")
	require.NoError(t, err)
	var listed viewapi.Requests
	require.NoError(t, json.Unmarshal([]byte(body), &listed))
	require.True(t, listed.Known)
	compared, held := 0, 0
	for i := range listed.Requests {
		row := &listed.Requests[i]
		root := s.Slow[row.TraceID]
		if root == nil {
			continue // a fast one, or the job that holds everything
		}
		compared++
		assert.Equal(t, root.Name(), row.Name)
		assert.True(t, row.Whole)
		exported := int64(root.EndTimestamp() - root.StartTimestamp())
		assert.True(t, near(row.Time, exported), "%s took %v, not %v", row.TraceID, time.Duration(row.Time), time.Duration(exported))
		var waited, busy int64
		for _, h := range s.Holds[row.TraceID] {
			waited += h.Acquired - h.Called
			busy += h.Busy
		}
		assert.LessOrEqual(t, row.Waited, row.Time)
		assert.GreaterOrEqual(t, float64(row.Waited+busy), 0.95*float64(waited), "waits of %s", row.TraceID)
		if row.Worst != nil && row.Worst.Holder != nil && slices.Contains([]string{"Inventory.lock", "Prices.lock", "HikariPool"}, row.Worst.Object) {
			held++
		}
	}
	assert.Equal(t, len(s.Slow), compared, "slow requests on the page")
	assert.Greater(t, held, compared/2, "requests that were held up longest by another one")
}
