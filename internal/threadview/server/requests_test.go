// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadtest"
	"github.com/weft-otel/weft/internal/viewapi"
)

func shop(t *testing.T, requests int, window time.Duration) (*fixture, []threadtest.ShopRequest) {
	t.Helper()
	sym := symbols.New(symbols.DefaultLimits())
	events, truth := threadtest.Shop(sym, 1, requests)
	return fixtureOf(t, sym, events, window), truth
}

// covered is the time that a wait covers, by the points at which waits begin and end.
func covered(waits []threadtest.ShopWait) (sum int64) {
	var points []jvmthread.Time
	for _, w := range waits {
		points = append(points, w.From, w.To)
	}
	slices.Sort(points)
	for i := range len(points) - 1 {
		if slices.ContainsFunc(waits, func(w threadtest.ShopWait) bool { return w.From <= points[i] && points[i+1] <= w.To }) {
			sum += int64(points[i+1] - points[i])
		}
	}
	return sum
}

func kindsOf(waits []threadtest.ShopWait) map[string]viewapi.RequestKind {
	out := map[string]viewapi.RequestKind{}
	for _, w := range waits {
		k := out[w.Wait.String()]
		out[w.Wait.String()] = viewapi.RequestKind{Wait: w.Wait.String(), Count: k.Count + 1, Time: k.Time + int64(w.To-w.From)}
	}
	return out
}

// Each request that really happened is in the answer, with its time, its threads and its waits, to the nanosecond, whatever the windows.
func TestRequests(t *testing.T) {
	for _, window := range []time.Duration{7 * time.Millisecond, time.Second, time.Hour} {
		t.Run(window.String(), func(t *testing.T) {
			f, truth := shop(t, 300, window)
			origin := int64(f.events[0].Time)
			byTrace := map[string]threadtest.ShopRequest{}
			for _, r := range truth {
				byTrace[hex.EncodeToString(r.Span.TraceID[:])] = r
			}
			slowest := int64(1) << 62
			for offset := 0; offset < len(truth); offset += 100 {
				out := ask[viewapi.Requests](f, fmt.Sprintf("/requests?limit=100&offset=%d", offset))
				require.Equal(t, []int{len(truth), offset, 100}, []int{out.Total, out.Offset, len(out.Requests)})
				assert.True(t, out.Known)
				for _, got := range out.Requests {
					want, ok := byTrace[got.TraceID]
					require.True(t, ok, "once")
					delete(byTrace, got.TraceID)
					assert.LessOrEqual(t, got.Time, slowest)
					slowest = got.Time
					checkRequest(t, want, got, origin)
				}
			}
			assert.Empty(t, byTrace)
		})
	}
}

func checkRequest(t *testing.T, want threadtest.ShopRequest, got viewapi.Request, origin int64) {
	t.Helper()
	assert.Equal(t, []any{want.Name, hex.EncodeToString(want.Span.SpanID[:]), true, false}, []any{got.Name, got.SpanID, got.Whole, got.Open})
	assert.Equal(t, []int64{int64(want.From) - origin, int64(want.To) - origin, int64(want.To - want.From)}, []int64{got.From, got.To, got.Time})
	assert.Equal(t, "http://jaeger/trace/"+got.TraceID+"?s="+got.SpanID, got.URL)
	assert.Equal(t, len(want.Threads), got.Touched)
	for i, id := range want.Threads {
		assert.Equal(t, uint64(id), got.Threads[i].ID)
	}
	assert.Equal(t, covered(want.Waits), got.Waited)
	assert.Equal(t, float64(got.Waited)/float64(got.Time), got.Share)
	kinds := map[string]viewapi.RequestKind{}
	for _, k := range got.Kinds {
		kinds[k.Wait] = k
	}
	assert.Equal(t, kindsOf(want.Waits), kinds)
	longest := slices.MaxFunc(want.Waits, func(a, b threadtest.ShopWait) int { return cmp.Compare(a.To-a.From, b.To-b.From) })
	require.NotNil(t, got.Worst)
	assert.Equal(t, []any{uint64(longest.Thread), longest.Wait.String(), int64(longest.To - longest.From)},
		[]any{got.Worst.Interval.Thread.ID, got.Worst.Wait, got.Worst.Time})
	if longest.Holder == jvmthread.NoThread {
		assert.Nil(t, got.Worst.Holder)
		if longest.Wait == jvmthread.WaitFuture {
			assert.Equal(t, uint64(want.Threads[1]), got.Worst.EndedBy.ID)
		}
		return
	}
	assert.Equal(t, "Inventory", got.Worst.Object)
	require.NotNil(t, got.Worst.Holder)
	assert.Equal(t, uint64(longest.Holder), got.Worst.Holder.Thread.ID)
}

// The sums by name are those of the requests.
func TestRequestNames(t *testing.T) {
	f, truth := shop(t, 400, 50*time.Millisecond)
	names := ask[viewapi.Requests](f, "/requests?limit=1").Names
	require.Len(t, names, 3)
	for i, n := range names {
		if i > 0 {
			assert.GreaterOrEqual(t, names[i-1].Waited, n.Waited)
		}
		var times []int64
		var waited, sum int64
		kinds := map[string]int64{}
		for _, r := range truth {
			if r.Name != n.Name {
				continue
			}
			times = append(times, int64(r.To-r.From))
			sum += int64(r.To - r.From)
			waited += covered(r.Waits)
			for _, w := range r.Waits {
				kinds[fmt.Sprint(w.Wait, w.Thread > threadtest.ShopThreads)] += int64(w.To - w.From)
			}
		}
		slices.Sort(times)
		least := func(part float64) int64 { // the least time that so many requests do not exceed
			return times[slices.IndexFunc(times, func(t int64) bool {
				at, _ := slices.BinarySearch(times, t+1)
				return float64(at) >= part*float64(len(times))
			})]
		}
		assert.Equal(t, []int64{int64(len(times)), sum, waited, least(.5), least(.95), times[len(times)-1]},
			[]int64{int64(n.Count), n.Time, n.Waited, n.P50, n.P95, n.Max})
		require.NotNil(t, n.Cause)
		blocked := kinds[fmt.Sprint(jvmthread.WaitLock, false)]
		assert.Equal(t, []any{blocked, "blocked Inventory"}, []any{n.Held.Time, n.Held.Title})
		asleep := kinds[fmt.Sprint(jvmthread.WaitSleep, false)]
		longest := max(blocked, asleep, kinds[fmt.Sprint(jvmthread.WaitSleep, true)], kinds[fmt.Sprint(jvmthread.WaitFuture, false)])
		assert.Equal(t, longest, n.Cause.Time)
		if longest == asleep {
			assert.Equal(t, "sleep in Payment.call", n.Cause.Title)
		}
		assert.Equal(t, "report", n.Held.Worst.Holder.Thread.Name)
		only := ask[viewapi.Requests](f, "/requests?limit=100&sort=waited&name="+url.QueryEscape(n.Name))
		assert.Equal(t, len(times), only.Total)
		assert.Len(t, only.Names, 3, "all")
		assert.True(t, slices.IsSortedFunc(only.Requests, func(a, b viewapi.Request) int { return cmp.Compare(b.Waited, a.Waited) }))
	}
}

// A range has the requests that overlap it, counted whole.
func TestRequestsOfARange(t *testing.T) {
	f, truth := shop(t, 100, 5*time.Millisecond)
	origin := f.events[0].Time
	middle := truth[50]
	from, to := middle.From-origin+10, middle.To-origin-10
	want := map[string]int64{}
	for _, r := range truth {
		if r.From-origin < to && r.To-origin > from {
			want[hex.EncodeToString(r.Span.TraceID[:])] = covered(r.Waits)
		}
	}
	got := map[string]int64{}
	for _, r := range ask[viewapi.Requests](f, fmt.Sprintf("/requests?limit=100&from=%d&to=%d", from, to)).Requests {
		got[r.TraceID] = r.Waited
	}
	assert.Equal(t, want, got)
	assert.Greater(t, len(got), 1)
}

// Without spans the answer says so.
func TestNoRequests(t *testing.T) {
	out := ask[viewapi.Requests](newFixture(t, 3, 6, 3, 400, 700), "/requests")
	assert.Equal(t, viewapi.Requests{Names: []viewapi.RequestName{}, Requests: []viewapi.Request{}}, out)
	f, _ := shop(t, 10, time.Second)
	out = ask[viewapi.Requests](f, "/requests?from=0&to=1000")
	assert.True(t, out.Known)
	assert.Empty(t, out.Requests, "before the first one")
	assert.Empty(t, out.Names)
}

// Without the ends of requests it is known when they were first and last seen; one that continues is open.
func TestRequestsWithoutEnds(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	span := func(trace, n byte) jvmthread.SpanContext {
		return jvmthread.SpanContext{TraceID: [16]byte{trace}, SpanID: [8]byte{n}}
	}
	event := func(at jvmthread.Time, thread jvmthread.ThreadID, kind jvmthread.Kind, s jvmthread.SpanContext) jvmthread.Event {
		return jvmthread.Event{Time: at, Thread: thread, Kind: kind, Span: s}
	}
	f := fixtureOf(t, sym, []jvmthread.Event{
		event(100, 1, jvmthread.KindThreadStart, span(0, 0)),
		event(100, 2, jvmthread.KindThreadStart, span(0, 0)),
		event(200, 1, jvmthread.KindContext, span(1, 1)),
		event(200, 1, jvmthread.KindSleepStart, span(0, 0)),
		event(250, 1, jvmthread.KindSleepEnd, span(0, 0)),
		event(300, 1, jvmthread.KindContext, span(1, 2)), // within the same trace
		event(300, 1, jvmthread.KindSleepStart, span(0, 0)),
		event(310, 1, jvmthread.KindSleepEnd, span(0, 0)),
		event(500, 1, jvmthread.KindContext, span(2, 1)),
		event(500, 1, jvmthread.KindSleepStart, span(0, 0)),
		event(900, 2, jvmthread.KindThreadEnd, span(0, 0)),
	}, 130*time.Nanosecond)
	type row struct {
		trace        byte
		from, to     int64
		waited       int64
		whole, open  bool
		count, kinds int
	}
	var got []row
	for _, r := range ask[viewapi.Requests](f, "/requests?sort=from").Requests {
		trace, err := hex.DecodeString(r.TraceID)
		require.NoError(t, err)
		got = append(got, row{trace[0], r.From, r.To, r.Waited, r.Whole, r.Open, r.Kinds[0].Count, len(r.Kinds)})
	}
	to := ask[viewapi.Session](f, "").To
	assert.Equal(t, []row{
		{1, 100, 210, 60, false, false, 2, 1},
		{2, 400, to, to - 400, false, true, 1, 1},
	}, got)
}
