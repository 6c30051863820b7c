// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/internal/wire/definitions"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/metadatatest"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

const lost = "batch 2 watermark 1000010 before 1 end lost\n"

// work sends batches of one event each and expects them downstream.
func work(t *testing.T, a *agent, next *outlettest.Sink, from, to int) {
	t.Helper()
	for n := from; n <= to; n++ {
		a.send(fmt.Sprintf("batch sequence=%d watermark=%d0 before=%d\n section thread=1\n  event yield time=%[2]d0", n, n, n-1))
		assert.EqualValues(t, n, a.acked())
		assert.Equal(t, fmt.Sprintf("batch %d watermark 1000%02d0 before %d\n  1000%02[2]d0 yield thread 1\n", n, n, n-1), next.Next(t))
		time.Sleep(time.Second)
	}
}

// helloAgain is the hello of an agent that has received an acknowledgement.
func helloAgain(acked int) string {
	return strings.Replace(hello, "pid=42", fmt.Sprintf("pid=42 acked=%d", acked), 1)
}

// A lost session may continue with the same ID, and its new batches are not taken for duplicates:
//
//	agent   ── 1 ──┤    away 6 s   ├── 2 3 … ──
//	receiver                  └ 2 lost
func TestLostSessionMayReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := outlettest.NewSink()
		r, listener := startWithPipes(t, next)
		a := listener.dial(t)
		a.greet(hello)
		work(t, a, next, 1, 1)
		require.NoError(t, a.conn.Close())
		time.Sleep(6 * time.Second)
		assert.Equal(t, lost, next.Next(t))

		a = listener.dial(t)
		assert.EqualValues(t, 1, a.greet(helloAgain(1)))
		work(t, a, next, 2, 60)
		assert.Empty(t, next.Got)
		r.stop()
	})
}

func TestSessionThatReconnectsBeforeItsEndIsAcceptedIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := outlettest.NewSink()
		var down atomic.Bool
		next.Answer = func(context.Context, ptrace.Traces) error {
			if down.Load() {
				return assert.AnError
			}
			return nil
		}
		r, listener := startWithPipes(t, next)
		a := listener.dial(t)
		a.greet(hello)
		work(t, a, next, 1, 1)
		down.Store(true)
		require.NoError(t, a.conn.Close())
		time.Sleep(20 * time.Second)

		a = listener.dial(t)
		assert.EqualValues(t, 1, a.greet(hello), "it is the same session")
		down.Store(false)
		work(t, a, next, 2, 20)
		assert.Empty(t, next.Got)
		require.NoError(t, a.conn.Close())
		time.Sleep(6 * time.Second)
		assert.Contains(t, next.Next(t), "end lost")
		r.stop()
	})
}

func TestSessionThatReconnectsDuringItsEndStartsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := outlettest.NewSink()
		next.Answer = func(_ context.Context, traces ptrace.Traces) error {
			if strings.Contains(outlettest.Describe(t, traces), "end lost") {
				time.Sleep(5 * time.Second) // ignores the context
			}
			return nil
		}
		r, listener := startWithPipes(t, next)
		a := listener.dial(t)
		a.greet(hello)
		work(t, a, next, 1, 1)
		require.NoError(t, a.conn.Close())
		time.Sleep(7 * time.Second)

		a = listener.dial(t)
		assert.EqualValues(t, 1, a.greet(helloAgain(1)))
		assert.Equal(t, lost, next.Next(t), "before the session continues")
		work(t, a, next, 2, 20)
		assert.Empty(t, next.Got)
		r.stop()
	})
}

func TestLostSessionsCountUntilTheirEndIsAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tel := componenttest.NewTelemetry()
		next := outlettest.NewSink()
		next.Answer = func(_ context.Context, traces ptrace.Traces) error {
			if strings.Contains(outlettest.Describe(t, traces), "end lost") {
				return assert.AnError
			}
			return nil
		}
		r, listener := startWithPipesAnd(t, Settings{Out: outlettest.New(t, tel, next)}, func(s *Config) { s.MaxSessions, s.SessionLinger = 4, 0 })
		come := func(n int) (refused int) {
			for i := range n {
				a := listener.dial(t)
				a.send(helloOf(uint16(i)))
				frame, err := a.reader.Next()
				require.NoError(t, err)
				if refuse, err := frame.Refuse(); frame.Kind == wire.FrameRefuse && err == nil {
					assert.Equal(t, wire.RefuseLimit, refuse.Code)
					refused++
				} else {
					a.send("class id=1 name=\"Book\"\nbatch sequence=1")
					assert.EqualValues(t, 1, a.acked())
				}
				require.NoError(t, a.conn.Close())
				synctest.Wait()
			}
			return refused
		}
		began, goroutines := time.Now(), runtime.NumGoroutine()
		assert.Equal(t, 296, come(300))
		assert.Less(t, time.Since(began), endPatience)
		assert.LessOrEqual(t, runtime.NumGoroutine(), goroutines+3*4)
		empty := definitions.New(symbols.New(symbols.DefaultLimits())).Held()
		r.sessions.mu.Lock()
		for _, s := range r.sessions.byID {
			assert.Equal(t, empty, s.Definitions.Held())
		}
		r.sessions.mu.Unlock()

		time.Sleep(endPatience)
		synctest.Wait()
		assert.Empty(t, r.sessions.byID, "the session is dropped")
		metadatatest.AssertEqualReceiverJvmThreadEndsRefused(t, tel, []metricdata.DataPoint[int64]{{Value: 4}}, metricdatatest.IgnoreTimestamp())
		assert.Equal(t, 1, come(5))
		r.stop()
	})
}

// A connection whose peer has vanished silently must not occupy its slot:
//
//	agent     ── 1 ──── 2 ──(gone)
//	receiver     │ 30 s │     30 s     │ closed │ 5 s │ lost
func TestSilentAgentIsDisconnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		next := outlettest.NewSink()
		var delay time.Duration
		next.Answer = func(context.Context, ptrace.Traces) error {
			time.Sleep(delay)
			return nil
		}
		out := outlettest.New(t, nil, next)
		out.Log = zap.New(core)
		r, listener := startWithPipesAnd(t, Settings{Out: out}, nil)
		a := listener.dial(t)
		a.greet(hello)
		time.Sleep(silence - 1)
		work(t, a, next, 1, 1)
		delay = time.Hour
		work(t, a, next, 2, 2) // the pipeline is slow, not the agent
		delay = 0
		a.send("raw 28000000 0600") // no frame
		logs.TakeAll()
		time.Sleep(silence - 2*time.Second)
		assert.Empty(t, logs.All())
		time.Sleep(time.Second)
		a.closed()
		synctest.Wait()
		require.Len(t, logs.All(), 1)
		assert.Equal(t, "Connection lost; the session may reconnect", logs.All()[0].Message)
		assert.Contains(t, logs.All()[0].ContextMap()["error"], "agent was silent for 30s")
		assert.Zero(t, r.sessions.admission.open)
		time.Sleep(5 * time.Second)
		assert.Contains(t, next.Next(t), "end lost")
		r.stop()
	})
}
