// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// slow is a Follower whose windows last until they may go on, and that counts their events.
type slow struct {
	*sessions.Session
	gate   <-chan struct{}
	events map[jvmthread.SessionID]uint64
}

func (s *slow) Window(w *window.Window) {
	<-s.gate
	s.events[s.ID] += w.Events
}
func (*slow) Advanced()               {}
func (*slow) Closed(window.Cut)       {}
func (*slow) Take() sessions.Delivery { return nil }

// slowly returns a member whose windows of 10 us end when gate is closed. The events of the windows are counted by session.
func slowly(gate <-chan struct{}) (*sessions.Member, map[jvmthread.SessionID]uint64) {
	options := sessions.DefaultOptions()
	options.Window = 10 * time.Microsecond
	events := make(map[jvmthread.SessionID]uint64)
	a := sessions.NewAnalyzer(options, zap.NewNop())
	return join(a, 0, func(s *sessions.Session) sessions.Follower { return &slow{Session: s, gate: gate, events: events} }), events
}

// of changes the session of a carrier.
func of(session byte, td ptrace.Traces) ptrace.Traces {
	span := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	span.SetTraceID(pcommon.TraceID{0: session})
	return td
}

// A window that takes long delays acknowledgements by a limited time, and no other session. Nothing is lost.
func TestSlowWindowsDelayNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		m, events := slowly(gate)
		begin := time.Now()
		for batch := range uint64(20) { // the windows end with the 10th and the 20th
			require.NoError(t, m.Consume(t.Context(), carrier(batch+1, "")))
		}
		assert.Equal(t, 11*sessions.DefaultOptions().AckWithin, time.Since(begin), "ten were processed at once")
		begin = time.Now()
		for batch := range uint64(8) {
			require.NoError(t, m.Consume(t.Context(), of(2, carrier(batch+1, ""))))
		}
		assert.Zero(t, time.Since(begin))
		close(gate)
		m.Shutdown(t.Context())
		assert.Equal(t, map[jvmthread.SessionID]uint64{{0: 1}: 20, {0: 2}: 8}, events)
	})
}

// manyEvents is a batch that takes a third of a backlog.
func manyEvents(batch uint64) ptrace.Traces {
	const events = 30_000
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(ss.Scope())
	c := threadpdata.Carrier{Session: jvmthread.SessionID{0: 1}, Batch: batch, Watermark: jvmthread.Time(batch) * 1_000_000, Before: (batch - 1) * events}
	for i := range events {
		kind := jvmthread.KindSleepStart
		if i%2 == 1 {
			kind = jvmthread.KindSleepEnd
		}
		c.Events = append(c.Events, jvmthread.Event{Time: c.Watermark - events + jvmthread.Time(i), Thread: 1, Kind: kind, Arg: int64(i) << 40})
	}
	c.AppendTo(ss.Spans(), symbols.New(symbols.DefaultLimits()))
	return td
}

// A sender waits while the backlog of its session is full. What it gives up is not taken, and can be sent again.
func TestFullBacklogHoldsBackItsSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		m, events := slowly(gate)
		last := uint64(0)
		for {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			err := m.Consume(ctx, manyEvents(last+1))
			cancel()
			if err != nil {
				require.ErrorIs(t, err, context.DeadlineExceeded)
				break
			}
			last++
			require.Less(t, last, uint64(100), "the backlog is bounded")
		}
		require.NotZero(t, last)
		ended := make(chan error)
		go func() { ended <- m.Consume(t.Context(), manyEvents(last+1)) }()
		synctest.Wait()
		assert.Empty(t, ended)
		close(gate)
		require.NoError(t, <-ended)
		m.Shutdown(t.Context())
		assert.Equal(t, (last+1)*30_000, events[jvmthread.SessionID{0: 1}])
	})
}

// A batch that waits in the backlog is not given up as missing, and its session not as silent.
func TestBacklogIsNotMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		m, events := slowly(gate)
		require.NoError(t, m.Consume(t.Context(), carrier(1, "")))
		require.NoError(t, m.Consume(t.Context(), carrier(3, "")))
		for batch := range uint64(15) { // of which the last wait for a window
			require.NoError(t, m.Consume(t.Context(), carrier(batch+5, "")))
		}
		require.NoError(t, m.Consume(t.Context(), carrier(4, "")))
		require.NoError(t, m.Consume(t.Context(), carrier(2, "")))
		time.Sleep(5 * time.Minute) // in the synctest bubble
		close(gate)
		m.Shutdown(t.Context())
		assert.Equal(t, map[jvmthread.SessionID]uint64{{0: 1}: 19}, events)
	})
}

// Deliveries that take long do not keep other sessions from being processed, and Shutdown waits for them.
func TestSlowDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		sent := make(chan jvmthread.SessionID, 100)
		a := sessions.NewAnalyzer(sessions.DefaultOptions(), zap.NewNop())
		m := join(a, 0, func(s *sessions.Session) sessions.Follower { return &sending{s, gate, sent, 0} })
		for id := range byte(10) {
			require.NoError(t, m.Consume(t.Context(), of(id+1, carrier(1, ""))))
		}
		synctest.Wait()
		assert.Len(t, sent, 10, "all wait for the next consumer")
		stopped := make(chan struct{})
		go func() {
			m.Shutdown(t.Context())
			close(stopped)
		}()
		synctest.Wait()
		assert.Len(t, sent, 10)
		close(gate)
		<-stopped
		assert.Len(t, sent, 20)
	})
}

// sending is a Follower whose deliveries announce themselves, and then wait.
type sending struct {
	*sessions.Session
	gate <-chan struct{}
	sent chan<- jvmthread.SessionID
	due  int
}

func (*sending) Window(*window.Window) {}
func (s *sending) Advanced()           { s.due++ }
func (s *sending) Closed(window.Cut)   { s.due++ }

func (s *sending) Take() sessions.Delivery {
	if s.due == 0 {
		return nil
	}
	s.due = 0
	return func(context.Context) {
		s.sent <- s.ID
		<-s.gate
	}
}
