// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// faulty is a Follower with a defect in one of its methods, which appears once.
type faulty struct {
	*describer

	at   string // the method
	left int    // calls before the defect appears; less than 0: it has appeared
	ends *[]window.Cut
}

func (f *faulty) step(name string) {
	if name == f.at {
		if f.left--; f.left == -1 {
			panic("defect in " + name)
		}
	}
}

func (f *faulty) Window(w *window.Window) {
	f.step("Window")
	f.Find(w) // borrows memory
	f.step("Window after Find")
	if f.at == "Deliver" {
		f.Deliver(func(context.Context) { f.step("Deliver") })
	}
	f.describer.Window(w)
}

func (f *faulty) Advanced() { f.step("Advanced") }

func (f *faulty) Aggregate(*jvmthread.Aggregate) { f.step("Aggregate") }

func (f *faulty) Held() int {
	f.step("Held")
	return 1 << 10
}

func (f *faulty) Closed(why window.Cut) {
	*f.ends = append(*f.ends, why)
	f.step("Closed")
}

func (f *faulty) Take() sessions.Delivery {
	f.step("Take")
	send := f.describer.Take()
	if f.at != "delivery" || send == nil {
		return send
	}
	return func(ctx context.Context) {
		send(ctx)
		f.step("delivery")
	}
}

// losses counts lost events by where.
type losses struct {
	noop.Int64Counter
	mu sync.Mutex
	by map[string]int
}

func (l *losses) Add(_ context.Context, n int64, options ...metric.AddOption) {
	l.mu.Lock()
	defer l.mu.Unlock()
	attributes := metric.NewAddConfig(options).Attributes()
	where, _ := attributes.Value("where")
	l.by[where.AsString()] += int(n)
}

// run is a collector whose second program makes it panic.
type run struct {
	*sessions.Member

	lives                  map[jvmthread.SessionID]*life // with the windows of each session
	ends                   []window.Cut                  // of the faulty session
	lost                   losses
	failed, followed, held gauge
	log                    *observer.ObservedLogs
}

const healthyProgram, faultyProgram = 3, 4

func idOf(seed byte) jvmthread.SessionID { return jvmthread.SessionID{0: 1, 1: seed} }

// newRun returns a collector. The follower of the faulty program has a defect that appears in a method, after some calls of it.
func newRun(at string, after int, d *disk) *run {
	r := &run{lives: make(map[jvmthread.SessionID]*life), lost: losses{by: make(map[string]int)}}
	options := sessions.DefaultOptions()
	options.AckWithin, options.Window = time.Hour, 300
	core, log := observer.New(zap.InfoLevel)
	r.log = log
	a := sessions.NewAnalyzer(options, zap.New(core))
	if d != nil {
		a.Keep(&client{disk: d})
	}
	metrics := unmeasured()
	metrics.EventsLost, metrics.Failed = &r.lost, counter{gauge: &r.failed}
	metrics.Sessions, metrics.Held = upDown{gauge: &r.followed}, upDown{gauge: &r.held}
	r.Member = a.Join(sessions.MemberSettings{Metrics: metrics, Follow: func(s *sessions.Session) sessions.Follower {
		l := new(life)
		if before := r.lives[s.ID]; before != nil {
			l = before
		}
		r.lives[s.ID] = l
		f := &faulty{describer: &describer{Session: s, life: l}, ends: &r.ends}
		if s.ID == idOf(faultyProgram) {
			f.at, f.left = at, after
			f.step("Follow")
		} else {
			f.ends = new([]window.Cut)
		}
		return f
	}})
	return r
}

// sideBySide consumes both programs, a batch of each in turn, and shuts down.
func (r *run) sideBySide(t *testing.T) {
	t.Helper()
	healthy, bad := program(healthyProgram), program(faultyProgram)
	for i := range max(len(healthy), len(bad)) {
		for _, batches := range [][]ptrace.Traces{healthy, bad} {
			if i < len(batches) {
				consume(t, r.Member, batches[i])
			}
		}
	}
	r.Shutdown(t.Context())
}

// defects returns the lines about sessions that failed.
func (r *run) defects() *observer.ObservedLogs {
	return r.log.FilterLevelExact(zap.ErrorLevel)
}

func eventsOf(batches []ptrace.Traces) (n int) {
	for _, td := range batches {
		n += int(threadpdata.CountEvents(td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)))
	}
	return n
}

// A session that panics ends as failed: the windows that it had completed are delivered, the rest of its events is counted, its carriers are
// acknowledged, its memory is free, and another session does not notice.
func TestFailedSessionHarmsNoOther(t *testing.T) {
	failure.ContainIn(t)
	want := newRun("", 0, nil)
	want.sideBySide(t)
	require.Zero(t, want.failed.now.Load())
	all := want.lives[idOf(faultyProgram)].got
	require.Greater(t, len(all), 5)
	for _, test := range []struct {
		at      string
		after   int
		windows int // that are delivered; less than 0: some
		ends    []window.Cut
	}{
		{"Follow", 0, 0, nil},
		{"Window", 0, 0, []window.Cut{window.CutFailed}},
		{"Window", 3, 3, []window.Cut{window.CutFailed}},
		{"Window after Find", 2, 2, []window.Cut{window.CutFailed}},
		{"Deliver", 2, 2, []window.Cut{window.CutFailed}},
		{"Advanced", 0, -1, []window.Cut{window.CutFailed}},
		{"Advanced", 4, -1, []window.Cut{window.CutFailed}},
		{"Take", 4, -1, []window.Cut{window.CutFailed}},
		{"delivery", 1, -1, []window.Cut{window.CutFailed}},
		{"Held", 3, -1, []window.Cut{window.CutFailed}},
		{"Closed", 0, len(all), []window.Cut{window.CutEnd}},
	} {
		t.Run(test.at, func(t *testing.T) {
			held := budget.Process.Held(budget.Sessions) + budget.Process.Held(budget.Backlogs)
			got := newRun(test.at, test.after, nil)
			synctest.Test(t, func(t *testing.T) { got.sideBySide(t) })
			assert.Equal(t, want.lives[idOf(healthyProgram)].got, got.lives[idOf(healthyProgram)].got)
			var windows []string
			if l := got.lives[idOf(faultyProgram)]; l != nil {
				windows = l.got
			}
			assert.Equal(t, test.ends, got.ends)
			if test.windows >= 0 {
				require.Len(t, windows, test.windows)
			}
			assert.Equal(t, all[:len(windows)], append([]string{}, windows...), "those before the panic")
			delivered := 0
			for _, w := range windows {
				delivered += eventsIn(t, w)
			}
			// A follower that panics while it has a window, or before it is one, has no part of the window.
			assert.Equal(t, eventsOf(program(faultyProgram)), delivered+got.lost.by["failed"]+got.lost.by["refused"], "%v", got.lost.by)
			assert.Equal(t, int64(1), got.failed.now.Load())
			assert.Zero(t, got.followed.now.Load())
			assert.Zero(t, got.held.now.Load())
			assert.Equal(t, held, budget.Process.Held(budget.Sessions)+budget.Process.Held(budget.Backlogs))
			require.Equal(t, 1, got.defects().Len())
			fields := got.defects().All()[0].ContextMap()
			assert.Equal(t, idOf(faultyProgram).String(), fields["session"])
			assert.Equal(t, "orders", fields["service"])
			assert.Equal(t, "defect in "+test.at, fields["panic"])
			assert.Contains(t, fields["stack"].([]any)[0], "faulty).step")
		})
	}
}

func eventsIn(t *testing.T, description string) (events int) {
	t.Helper()
	_, rest, _ := strings.Cut(description, ": ")
	number, _, found := strings.Cut(rest, " events")
	require.True(t, found)
	for _, digit := range number {
		events = events*10 + int(digit-'0')
	}
	return events
}

// In a test that does not enable it, a panic is not contained.
func TestDefectsAreLoudInTests(t *testing.T) {
	r := newRun("Follow", 0, nil)
	assert.PanicsWithValue(t, "defect in Follow", func() { _ = r.Consume(t.Context(), program(faultyProgram)[0]) })
	r.Shutdown(t.Context())
}

// The carriers of a session that has failed are acknowledged at once and refused, so that none is repeated. Others are followed.
func TestCarriersOfAFailedSessionAreAcknowledged(t *testing.T) {
	failure.ContainIn(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRun("Window", 0, newDisk())
		begin := time.Now()
		for range 3 {
			for _, td := range program(faultyProgram) {
				consume(t, r.Member, td)
			}
		}
		assert.Zero(t, time.Since(begin))
		assert.Equal(t, int64(1), r.failed.now.Load(), "it does not start again")
		for _, td := range program(healthyProgram) {
			consume(t, r.Member, td)
		}
		assert.NotEmpty(t, r.lives[idOf(healthyProgram)].got)
		r.Shutdown(t.Context())
	})
}

// A journal that makes a session fail is given up, so that it does not do so at each start.
func TestJournalThatFailsIsForgotten(t *testing.T) {
	failure.ContainIn(t)
	d := newDisk()
	l := newRun("", 0, d)
	bad, healthy := program(faultyProgram), program(healthyProgram)
	half := len(bad) / 2
	for i := range half {
		consume(t, l.Member, bad[i])
		consume(t, l.Member, healthy[i])
	}
	l.Shutdown(t.Context())
	keys := func(seed byte) (n int) {
		for key := range d.data {
			if strings.HasPrefix(key, idOf(seed).String()) {
				n++
			}
		}
		return n
	}
	require.NotZero(t, keys(faultyProgram))

	l = newRun("Advanced", 0, d) // while the journal is read
	consume(t, l.Member, healthy[half])
	assert.Equal(t, int64(1), l.failed.now.Load())
	assert.Equal(t, []window.Cut{window.CutFailed}, l.ends)
	assert.Len(t, l.log.FilterMessage("Continued a session of the last run").All(), 1, "the other one")
	assert.Zero(t, keys(faultyProgram), "%v", slices.Collect(maps.Keys(d.data)))
	assert.NotZero(t, keys(healthyProgram))
	consume(t, l.Member, bad[half]) // refused, and acknowledged
	l.Shutdown(t.Context())

	l = newRun("", 0, d)
	consume(t, l.Member, bad[half+1]) // joined in the middle, as if another collector had had it
	assert.Len(t, l.log.FilterMessage("Continued a session of the last run").All(), 1)
	l.Shutdown(t.Context())
	assert.Zero(t, l.failed.now.Load())
}

// A delivery that panics at the end of a session costs that delivery only.
func TestLastDeliveryFails(t *testing.T) {
	failure.ContainIn(t)
	r := newRun("delivery", 0, nil)
	for _, td := range program(faultyProgram)[:1] {
		consume(t, r.Member, td)
	}
	r.Shutdown(t.Context())
	assert.Equal(t, []window.Cut{window.CutShutdown}, r.ends)
	assert.Equal(t, int64(1), r.failed.now.Load())
}

// Sums fail like events.
func TestAggregateFails(t *testing.T) {
	failure.ContainIn(t)
	r := newRun("Aggregate", 0, nil)
	td := program(faultyProgram)[0]
	c := threadpdata.Carrier{
		Session: idOf(faultyProgram), Batch: 1, Watermark: 10, Aggregate: &jvmthread.Aggregate{From: 1, To: 2},
	}
	spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	spans.RemoveIf(func(ptrace.Span) bool { return true })
	c.AppendTo(spans, nil)
	consume(t, r.Member, td)
	assert.Equal(t, int64(1), r.failed.now.Load())
	assert.Equal(t, []window.Cut{window.CutFailed}, r.ends)
	r.Shutdown(t.Context())
}
