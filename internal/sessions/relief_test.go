// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/sessions"
)

// tally is a Follower that adds up its windows.
type tally struct {
	*sessions.Session
	gate         <-chan struct{} // nil: windows take no time
	events, shed *uint64
	missed       *uint64
	cuts         map[window.Cut]int
}

func (s *tally) Window(w *window.Window) {
	if s.gate != nil {
		<-s.gate
	}
	*s.events += w.Events
	*s.shed += w.Shed
	*s.missed += w.Missed
	s.cuts[w.Cut]++
}
func (*tally) Advanced()               {}
func (*tally) Closed(window.Cut)       {}
func (*tally) Take() sessions.Delivery { return nil }

// gauge adds up the values of a metric.
type gauge struct {
	noop.Int64UpDownCounter
	noop.Int64Counter
	now, most atomic.Int64
}

func (g *gauge) Add(_ context.Context, n int64, _ ...metric.AddOption) {
	g.most.Store(max(g.most.Load(), g.now.Add(n)))
}

// upDown and counter make a gauge of either kind.
type (
	upDown struct {
		noop.Int64UpDownCounter
		*gauge
	}
	counter struct {
		noop.Int64Counter
		*gauge
	}
)

func (u upDown) Add(ctx context.Context, n int64, o ...metric.AddOption) { u.gauge.Add(ctx, n, o...) }

func (c counter) Add(ctx context.Context, n int64, o ...metric.AddOption) { c.gauge.Add(ctx, n, o...) }

// The windows of the fullest session are cut early while memory is short, and only those. That loses nothing.
func TestFullestSessionMakesWay(t *testing.T) { fullestMakesWay(t, 16) }

// The same if the process has little memory.
func TestFullestSessionMakesWayForTheProcess(t *testing.T) {
	before := budget.Process.SetLimit(24 << 20)
	defer budget.Process.SetLimit(before)
	others := budget.Process.New(budget.Store, 0)
	assert.True(t, others.Take(8<<20))
	fullestMakesWay(t, 0)
	others.Close()
	assert.Zero(t, budget.Process.Held(budget.Sessions)+budget.Process.Held(budget.Backlogs))
}

func fullestMakesWay(t *testing.T, limitMiB int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		options := sessions.DefaultOptions()
		options.Window, options.SessionsLimitMiB, options.AckWithin = time.Hour, limitMiB, time.Hour
		options.CriticalPath.Mode = sessions.PathOff
		a := sessions.NewAnalyzer(options, zap.NewNop())
		var events, shed, missed uint64
		cuts, quiet, held := make(map[window.Cut]int), make(map[window.Cut]int), new(gauge)
		metrics := unmeasured()
		metrics.Held = upDown{gauge: held}
		m := a.Join(sessions.MemberSettings{Metrics: metrics, Follow: func(s *sessions.Session) sessions.Follower {
			f := &tally{Session: s, events: &events, shed: &shed, missed: &missed, cuts: cuts}
			if s.ID[0] == 2 {
				f.cuts = quiet
			}
			return f
		}})
		for batch := range uint64(50) { // 1.5 million events, which need 60 MB
			consume(t, m, manyEvents(batch+1))
			consume(t, m, of(2, carrier(batch+1, "")))
			synctest.Wait()
		}
		m.Shutdown(t.Context())
		assert.Equal(t, uint64(50*30_000+50), events)
		assert.Equal(t, map[window.Cut]int{window.CutShutdown: 1}, quiet)
		assert.Zero(t, shed+missed)
		assert.Greater(t, cuts[window.CutMemory], 2)
		assert.Less(t, held.most.Load(), int64(20<<20), "a batch more than the limit")
		assert.Zero(t, held.now.Load())
	})
}

// If nothing can be freed, senders wait for a second, and then lose events, which are counted.
func TestEventsAreShedAtLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		options := sessions.DefaultOptions()
		options.Window, options.SessionsLimitMiB, options.CriticalPath.Mode = time.Hour, 16, sessions.PathOff
		a := sessions.NewAnalyzer(options, zap.NewNop())
		var events, shed, missed uint64
		lost, metrics := new(gauge), unmeasured()
		metrics.EventsLost = counter{gauge: lost}
		m := a.Join(sessions.MemberSettings{Metrics: metrics, Follow: func(s *sessions.Session) sessions.Follower {
			return &tally{Session: s, gate: gate, events: &events, shed: &shed, missed: &missed, cuts: make(map[window.Cut]int)}
		}})
		const batches = 40
		for batch := range uint64(batches - 1) {
			begin := time.Now()
			consume(t, m, manyEvents(batch+1))
			assert.LessOrEqual(t, time.Since(begin), 1100*time.Millisecond, "for memory, and then not for its turn, too")
		}
		close(gate)
		synctest.Wait()
		consume(t, m, manyEvents(batches)) // with it the events before are missed
		m.Shutdown(t.Context())
		assert.Equal(t, uint64(batches*30_000), events+missed)
		assert.NotZero(t, shed)
		assert.Equal(t, missed, shed)
		assert.Equal(t, int64(shed), lost.now.Load())
	})
}

// While the fullest session waits for the next consumer, another one makes way. Nothing is shed.
func TestHangingSessionDoesNotKeepOthersFromMakingWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		options := sessions.DefaultOptions()
		options.Window, options.SessionsLimitMiB, options.CriticalPath.Mode = time.Hour, 16, sessions.PathOff
		a := sessions.NewAnalyzer(options, zap.NewNop())
		var events, shed, missed uint64
		lost, cuts, metrics := new(gauge), make(map[window.Cut]int), unmeasured()
		metrics.EventsLost = counter{gauge: lost}
		m := a.Join(sessions.MemberSettings{Metrics: metrics, Follow: func(s *sessions.Session) sessions.Follower {
			f := &tally{Session: s, events: &events, shed: &shed, missed: &missed, cuts: cuts}
			if s.ID[0] == 2 {
				return &hanging{tally: *f, gate: gate}
			}
			return f
		}})
		for batch := range uint64(8) { // it holds half of the limit when the next consumer begins to hang
			if batch == 7 {
				consume(t, m, of(2, carrierOf(8, "", jvmthread.Event{Kind: jvmthread.KindYield, Thread: 1})))
			} else {
				consume(t, m, of(2, manyEvents(batch+1)))
			}
			synctest.Wait()
		}
		for batch := range uint64(40) {
			begin := time.Now()
			consume(t, m, manyEvents(batch+1))
			synctest.Wait()
			assert.LessOrEqual(t, time.Since(begin), 2*time.Second)
		}
		assert.Greater(t, cuts[window.CutMemory], 2)
		assert.Zero(t, lost.now.Load())
		close(gate)
		m.Shutdown(t.Context())
		assert.Zero(t, shed+missed)
	})
}

// hanging is a Follower that delivers something whenever its session has advanced by a small batch.
type hanging struct {
	tally
	gate <-chan struct{}
	due  int
}

func (h *hanging) Advanced() { h.due++ }

func (h *hanging) Take() sessions.Delivery {
	if h.due < 8 {
		return nil
	}
	h.due = 0
	return func(context.Context) { <-h.gate }
}
