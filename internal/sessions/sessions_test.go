// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/metric/noop"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// follower calls closed at the end of the session.
type follower struct{ closed func() }

func (follower) Window(*window.Window)   {}
func (follower) Advanced()               {}
func (f follower) Closed(window.Cut)     { f.closed() }
func (follower) Take() sessions.Delivery { return nil }

func join(a *sessions.Analyzer, window time.Duration, follow func(*sessions.Session) sessions.Follower) *sessions.Member {
	return a.Join(sessions.MemberSettings{Metrics: unmeasured(), Window: window, Follow: follow})
}

func unmeasured() sessions.Metrics {
	return sessions.Metrics{
		Events: noop.Int64Counter{}, EventsLost: noop.Int64Counter{}, Anomalies: noop.Int64Counter{}, Reordered: noop.Int64Counter{},
		Unknown: noop.Int64Counter{}, Sessions: noop.Int64UpDownCounter{}, Held: noop.Int64UpDownCounter{},
	}
}

func newMember(follow func() sessions.Follower) *sessions.Member {
	options := sessions.DefaultOptions()
	options.AckWithin = time.Hour
	a := sessions.NewAnalyzer(options, zap.NewNop())
	return join(a, 0, func(*sessions.Session) sessions.Follower { return follow() })
}

// consume passes carriers to a member.
func consume(t *testing.T, m *sessions.Member, td ptrace.Traces) {
	t.Helper()
	assert.NoError(t, m.Consume(t.Context(), td))
}

// carrier returns a batch with a single event.
func carrier(batch uint64, end string) ptrace.Traces {
	return carrierOf(batch, end, jvmthread.Event{Kind: jvmthread.KindThreadStart, Thread: 1})
}

func carrierOf(batch uint64, end string, ev jvmthread.Event) ptrace.Traces {
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	threadpdata.MarkCarriers(ss.Scope())
	at := jvmthread.Time(batch * 1000)
	ev.Time = at
	c := threadpdata.Carrier{
		Session: jvmthread.SessionID{0: 1}, Batch: batch, Watermark: at + 1, Before: batch - 1, End: end,
		Threads: []jvmthread.Thread{{ID: 1, Name: "main"}}, Events: []jvmthread.Event{ev},
	}
	c.AppendTo(ss.Spans(), symbols.New(symbols.DefaultLimits()))
	return td
}

// A JVM that returns while its session is being closed gets a new session, which starts after the old one has been closed completely:
// followers may store both in the same place.
func TestSessionStartsAfterTheEndOfThePreviousOne(t *testing.T) {
	var mu sync.Mutex
	var order []string
	note := func(what string) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, what)
	}
	var set *sessions.Member
	var back sync.WaitGroup
	var once sync.Once
	closed := func() {
		once.Do(func() {
			back.Go(func() { consume(t, set, carrier(2, "")) })
			for range 1000 {
				runtime.Gosched() // gives it a chance to start too early
			}
		})
		note("end")
	}
	set = newMember(func() sessions.Follower {
		note("begin")
		return follower{closed}
	})
	consume(t, set, carrier(1, threadpdata.EndLost))
	back.Wait()
	set.Shutdown(t.Context())
	assert.Equal(t, []string{"begin", "end", "begin", "end"}, order)
}

// Carriers that arrive after the regular end of a session are late and do not start another one.
func TestEndedSessionDoesNotStartAgain(t *testing.T) {
	begun := 0
	set := newMember(func() sessions.Follower {
		begun++
		return follower{func() {}}
	})
	consume(t, set, carrier(1, threadpdata.EndExit))
	consume(t, set, carrier(1, threadpdata.EndExit))
	set.Shutdown(t.Context())
	assert.Equal(t, 1, begun)
}
