// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/threadview/server"
	"github.com/weft-otel/weft/internal/viewapi"
)

// The spans that the page links to are found again, and so are those in the traces of requests.
func TestSpansOfIntervalsAreFound(t *testing.T) {
	f := newFixture(t, 3, 6, 3, 400, 700)
	found := 0
	for thread := range 6 {
		for seq := 1; ; seq += 3 {
			status, _ := f.get(fmt.Sprintf("sessions/%s/interval?thread=%d&seq=%d", sessionID, thread+1, seq))
			if status != http.StatusOK {
				break
			}
			iv := ask[viewapi.Interval](f, fmt.Sprintf("/interval?thread=%d&seq=%d", thread+1, seq))
			wait := threadpdata.RequestWaitID(sessionID, jvmthread.IntervalRef{Thread: jvmthread.ThreadID(thread + 1), Seq: jvmthread.Seq(seq)})
			for kind, id := range map[string]string{"interval": iv.Span.SpanID, "wait": wait.String()} {
				places := ask[viewapi.SpanPlaces](f, "/span?id="+id).Places
				require.Len(t, places, 1)
				p := places[0]
				assert.Equal(t, kind, p.Kind)
				assert.Equal(t, []int64{iv.From, iv.To, int64(iv.Seq)}, []int64{p.From, p.To, int64(p.Interval.Seq)})
				assert.Equal(t, []any{iv.Thread, iv.Title}, []any{p.Thread, p.Name})
			}
			found++
		}
	}
	assert.Greater(t, found, 50)
	assert.Empty(t, ask[viewapi.SpanPlaces](f, "/span?id=00000000000000aa").Places)
}

// A span of the application is where it was current.
func TestSpansOfRequestsAreFound(t *testing.T) {
	sym := symbols.New(symbols.DefaultLimits())
	name := sym.InternClass("GET /checkout")
	span := func(n byte) jvmthread.SpanContext {
		return jvmthread.SpanContext{TraceID: [16]byte{1}, SpanID: [8]byte{n}}
	}
	event := func(at jvmthread.Time, thread jvmthread.ThreadID, kind jvmthread.Kind, s jvmthread.SpanContext) jvmthread.Event {
		return jvmthread.Event{Time: at, Thread: thread, Kind: kind, Span: s}
	}
	end := event(900, 1, jvmthread.KindRequestEnd, span(1))
	end.Arg, end.Lock.Class = 700, name
	events := []jvmthread.Event{
		event(100, 1, jvmthread.KindThreadStart, jvmthread.SpanContext{}),
		event(100, 2, jvmthread.KindThreadStart, jvmthread.SpanContext{}),
		event(250, 1, jvmthread.KindContext, span(1)),
		event(300, 2, jvmthread.KindContext, span(1)),
		event(400, 1, jvmthread.KindContext, span(2)),
		event(450, 2, jvmthread.KindContext, jvmthread.SpanContext{}),
		event(500, 1, jvmthread.KindContext, span(1)),
		end,
		event(950, 1, jvmthread.KindContext, span(3)),
		event(999, 1, jvmthread.KindThreadEnd, jvmthread.SpanContext{}),
	}
	f := fixtureOf(t, sym, events, 10*time.Second)
	origin := int64(100)
	at := func(n byte) (out []viewapi.SpanPlace) {
		return ask[viewapi.SpanPlaces](f, fmt.Sprintf("/span?id=%02x00000000000000", n)).Places
	}
	ref := func(id uint64) viewapi.ThreadRef {
		return viewapi.ThreadRef{ID: id, Name: fmt.Sprintf("thread %d", id)}
	}
	assert.Equal(t, []viewapi.SpanPlace{
		{Kind: "request", Thread: ref(1), From: 200 - origin, To: 900 - origin, Name: "GET /checkout"},
		{Kind: "request", Thread: ref(2), From: 300 - origin, To: 450 - origin},
	}, at(1))
	assert.Equal(t, []viewapi.SpanPlace{{Kind: "request", Thread: ref(1), From: 400 - origin, To: 500 - origin}}, at(2))
	require.Len(t, at(3), 1)
	assert.GreaterOrEqual(t, at(3)[0].To, 999-origin, "until the end of the history")
	status, body := f.get("sessions/" + sessionID.String() + "/span?id=12")
	assert.Equal(t, http.StatusBadRequest, status)
	assert.Contains(t, string(body), "want 16 hexadecimal digits")
}

// A deadlock has spans from the window on in which it was found: before, its threads are in spans of their waits.
func TestSpanOfADeadlock(t *testing.T) {
	events, _ := deadlocks(1)
	f := fixtureOf(t, symbols.New(symbols.DefaultLimits()), events, 10*time.Second)
	view := server.New(f.store, server.Config{TraceWindow: 100 * time.Millisecond})
	defer view.Close()
	f.Config.Handler = view.Handler()
	at := func(ms int64) *viewapi.Interval {
		iv := ask[viewapi.Interval](f, fmt.Sprintf("/interval?thread=1&at=%d", ms*int64(time.Millisecond)-1))
		require.Equal(t, int(jvmthread.StateDeadlocked), iv.State)
		return &iv
	}
	found := at(1900)
	assert.Equal(t, found.Span, at(950).Span)
	assert.NotEqual(t, found.Span, at(2100).Span)
}
