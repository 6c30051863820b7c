// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/engine/ordering"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// faultyHandler is a Handler of which one method panics each time.
type faultyHandler struct {
	*ordering.Queue

	at     string
	events *int
	ends   *[]window.Cut
}

func (h *faultyHandler) step(name string) {
	if name == h.at {
		panic("defect in " + name)
	}
}

func (h *faultyHandler) Receive(c *threadpdata.Carrier) {
	h.step("Receive")
	h.Add(sessions.BatchOf(c))
}

func (h *faultyHandler) Advance() {
	h.step("Advance")
	*h.events += len(h.Ready())
}

func (h *faultyHandler) Skip() {
	h.step("Skip")
	h.Queue.Skip()
	h.Advance()
}
func (h *faultyHandler) Tick() { h.step("Tick") }

func (h *faultyHandler) Close(why window.Cut) {
	*h.ends = append(*h.ends, why)
	h.step("Close")
	*h.events += len(h.Rest())
}

func (h *faultyHandler) Take() []sessions.Delivery {
	h.step("Take")
	return nil
}

func (h *faultyHandler) Held() int {
	h.step("Held")
	if h.at == "Shrink" {
		return 1 << 20
	}
	return 100
}

func (h *faultyHandler) Shrink()    { h.step("Shrink") }
func (h *faultyHandler) Shed(int64) {}

// Whichever method of a session's handler panics, the session ends as failed, its senders go on, and another session gets all of its events.
func TestFailedHandler(t *testing.T) {
	failure.ContainIn(t)
	for at, ends := range map[string][]window.Cut{
		"Receive": {window.CutFailed}, "Advance": {window.CutFailed}, "Skip": {window.CutFailed}, "Tick": {window.CutFailed}, "Take": {window.CutFailed},
		"Held": {window.CutFailed}, "Shrink": {window.CutFailed}, "Close": {window.CutEnd, window.CutFailed},
	} {
		t.Run(at, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				held := budget.Process.Held(budget.Sessions)
				var failed gauge
				var got []window.Cut
				events, bad := 0, 0
				core, log := observer.New(zap.InfoLevel)
				metrics := unmeasured()
				metrics.Failed = counter{gauge: &failed}
				set := sessions.New(sessions.Settings{
					Config:  sessions.Config{MaxSessions: 2, SessionTimeout: time.Hour, ReorderTimeout: 5 * time.Second, AckWithin: time.Hour, MemoryLimit: 1 << 20},
					Logger:  zap.New(core),
					Metrics: metrics,
					Open: func(s *sessions.Session) sessions.Handler {
						if s.ID == (jvmthread.SessionID{0: 2}) {
							return &faultyHandler{ordering.New(ordering.DefaultLimits()), at, &bad, &got}
						}
						return &faultyHandler{ordering.New(ordering.DefaultLimits()), "", &events, new([]window.Cut)}
					},
				})
				set.Start()
				for batch := range uint64(10) {
					require.NoError(t, set.Consume(t.Context(), carrier(batch+1, "")))
					number, end := batch+1, ""
					if at == "Skip" {
						number = 2*batch + 1 // the others are missing
					} else if batch == 9 {
						end = threadpdata.EndExit
					}
					require.NoError(t, set.Consume(t.Context(), of(2, carrier(number, end))))
					time.Sleep(2 * time.Second) // in the synctest bubble: two ticks
				}
				set.Shutdown(t.Context())
				assert.Equal(t, 10, events)
				assert.Equal(t, ends, got)
				assert.Equal(t, int64(1), failed.now.Load())
				assert.Equal(t, held, budget.Process.Held(budget.Sessions))
				defects := log.FilterLevelExact(zap.ErrorLevel).All()
				require.Len(t, defects, 1)
				assert.Equal(t, "defect in "+at, defects[0].ContextMap()["panic"])
			})
		})
	}
}

// A recent failure is remembered for a limited number of sessions.
func TestFailedSessionsAreForgotten(t *testing.T) {
	failure.ContainIn(t)
	opened := 0
	set := sessions.New(sessions.Settings{
		Config: sessions.Config{MaxSessions: 2, SessionTimeout: time.Hour, ReorderTimeout: 5 * time.Second, AckWithin: time.Hour},
		Logger: zap.NewNop(), Metrics: unmeasured(),
		Open: func(*sessions.Session) sessions.Handler {
			opened++
			return &faultyHandler{ordering.New(ordering.DefaultLimits()), "Receive", new(int), new([]window.Cut)}
		},
	})
	const remembered = 1024
	for range 2 {
		for n := range remembered + 1 {
			td := carrier(1, "")
			span := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
			span.SetTraceID([16]byte{0: 1, 1: byte(n), 2: byte(n >> 8)})
			for range 2 {
				require.NoError(t, set.Consume(t.Context(), td))
			}
		}
	}
	assert.Equal(t, 2*(remembered+1), opened)
	set.Shutdown(t.Context())
}
