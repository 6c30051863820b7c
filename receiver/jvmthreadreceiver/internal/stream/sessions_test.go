// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/metadatatest"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

const events = `batch sequence=1 watermark=10
 section thread=1
  event yield time=1
batch sequence=2 watermark=20 before=1
 section thread=1
  event yield time=11
  event gap time=12 arg=7
`

func TestResentBatchesCountOnce(t *testing.T) {
	tel := componenttest.NewTelemetry()
	next := outlettest.NewSink()
	r := start(t, outlettest.New(t, tel, next), nil)
	a := dial(t, r)
	assert.Zero(t, a.greet(hello))
	a.send(events)
	assert.EqualValues(t, 1, a.acked())
	assert.EqualValues(t, 2, a.acked())
	require.NoError(t, a.conn.Close())

	a = dial(t, r)
	assert.EqualValues(t, 2, a.greet(hello), "the receiver has batches whose acknowledgements the agent did not receive")
	a.send(events + "batch sequence=3 watermark=30 before=2\nend time=40 reason=2")
	for sequence := range uint64(3) {
		assert.Equal(t, sequence+1, a.acked())
	}
	a.closed()
	assert.Equal(t, "batch 1 watermark 1000010 before 0\n  1000001 yield thread 1\n", next.Next(t))
	assert.Equal(t, "batch 2 watermark 1000020 before 1\n  1000011 yield thread 1\n  1000012 gap thread 1 arg 7\n", next.Next(t))
	assert.Equal(t, "batch 3 watermark 1000030 before 2\n", next.Next(t))
	assert.Equal(t, "batch 4 watermark 1000040 before 2 end detached\n", next.Next(t))
	assert.Empty(t, next.Got)

	r.stop()
	counter := func(n int64) []metricdata.DataPoint[int64] { return []metricdata.DataPoint[int64]{{Value: n}} }
	alike := metricdatatest.IgnoreTimestamp()
	metadatatest.AssertEqualReceiverJvmThreadBatchesDuplicate(t, tel, counter(2), alike)
	metadatatest.AssertEqualReceiverJvmThreadEvents(t, tel, counter(3), alike)
	metadatatest.AssertEqualReceiverJvmThreadEventsLost(t, tel, counter(7), alike)
	metadatatest.AssertEqualReceiverJvmThreadConnections(t, tel, counter(0), alike)
	metadatatest.AssertEqualReceiverJvmThreadSessions(t, tel, counter(0), alike)
	metadatatest.AssertEqualReceiverJvmThreadHeld(t, tel, counter(0), alike)
	accepted, err := tel.GetMetric("otelcol_receiver_accepted_spans")
	require.NoError(t, err)
	assert.EqualValues(t, 4, accepted.Data.(metricdata.Sum[int64]).DataPoints[0].Value)
}

func TestUnknownOwnersAreCounted(t *testing.T) {
	tel := componenttest.NewTelemetry()
	next := outlettest.NewSink()
	r := start(t, outlettest.New(t, tel, next), nil)
	a := dial(t, r)
	a.greet(hello)
	a.send(`batch sequence=1 watermark=20
 section thread=1
  event contendedEnter time=11 lock=0/a ownerUnknown
  event contendedEntered time=12 lock=0/a
  event contendedEnter time=13 lock=0/a
`)
	assert.EqualValues(t, 1, a.acked())
	r.stop()
	unknown := []metricdata.DataPoint[int64]{{Value: 1}}
	metadatatest.AssertEqualReceiverJvmThreadOwnersUnknown(t, tel, unknown, metricdatatest.IgnoreTimestamp())
}

// An event and a series refer to definitions that the agent has not sent, or has sent with a larger ID than allowed.
func TestUndefinedIDsAreCounted(t *testing.T) {
	tel := componenttest.NewTelemetry()
	next := outlettest.NewSink()
	r := start(t, outlettest.New(t, tel, next), nil)
	a := dial(t, r)
	a.greet(hello)
	a.send(`class id=7 name="com.acme.OrderBook"
class id=1048577 name="com.acme.Far"
batch sequence=1 watermark=20
 section thread=1
  event contendedEnter time=11 lock=7/a
  event contendedEntered time=12 lock=1048577/a
  event park time=13 lock=4294967295/ffffffff stack=4294967295
aggregate sequence=2 watermark=30 before=3 from=20 to=30
 series wait class=7 stack=1 sum=5 max=5 zero=1
`)
	assert.EqualValues(t, 1, a.acked())
	assert.EqualValues(t, 2, a.acked())
	r.stop()
	undefined := []metricdata.DataPoint[int64]{{Value: 3}}
	metadatatest.AssertEqualReceiverJvmThreadEventsUndefined(t, tel, undefined, metricdatatest.IgnoreTimestamp())
}

// The IDs of an agent are not those of the session's symbols: names follow from the agent's definitions.
func TestNamesAreThoseOfTheAgentsIDs(t *testing.T) {
	next := outlettest.NewSink()
	r := start(t, outlettest.New(t, nil, next), nil)
	a := dial(t, r)
	a.greet(hello)
	a.send(`class id=7 name="com.acme.OrderBook"
class id=3 name="com.acme.Desk"
batch sequence=1 watermark=20
 section thread=1
  event contendedEnter time=11 lock=3/a
  event contendedEntered time=12 lock=3/a
  event contendedEnter time=13 lock=7/b
  event contendedEntered time=14 lock=7/b
`)
	text := next.Next(t)
	assert.Equal(t, 2, strings.Count(text, "lock com.acme.Desk a"), text)
	assert.Equal(t, 2, strings.Count(text, "lock com.acme.OrderBook b"), text)
}

func TestClockOfTheFirstHelloIsKept(t *testing.T) {
	next := outlettest.NewSink()
	r := start(t, outlettest.New(t, nil, next), nil)
	a := dial(t, r)
	a.greet(hello)
	a.send("batch sequence=1 watermark=4")
	assert.Equal(t, "batch 1 watermark 1000004 before 0\n", next.Next(t))
	require.NoError(t, a.conn.Close())
	a = dial(t, r)
	a.greet(strings.Replace(hello, "wall=1000000", "wall=2000000", 1))
	a.send("batch sequence=2 watermark=5")
	assert.Equal(t, "batch 2 watermark 1000005 before 0\n", next.Next(t))
}

// A session of which nothing was delivered is not worth keeping: there is nothing to continue, and nothing to end.
func TestSessionWithoutBatchesIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := outlettest.NewSink()
		r, listener := startWithPipes(t, next)
		a := listener.dial(t)
		a.greet(hello)
		a.send("class id=1 name=\"Book\"")
		require.NoError(t, a.conn.Close())
		synctest.Wait()
		assert.Empty(t, r.sessions.byID)
		assert.Zero(t, r.sessions.held())
		time.Sleep(time.Minute)
		assert.Empty(t, next.Got)
		r.stop()
	})
}

func TestLateReceiverAcceptsEarlierAcknowledgements(t *testing.T) {
	next := outlettest.NewSink()
	a := dial(t, start(t, outlettest.New(t, nil, next), nil))
	assert.EqualValues(t, 17, a.greet(strings.Replace(hello, "pid=42", "pid=42 acked=17", 1)))
	a.send("batch sequence=18 watermark=5 before=1000")
	assert.EqualValues(t, 18, a.acked())
	got := <-next.Got
	assert.Equal(t, "batch 18 watermark 1000005 before 1000\n", outlettest.Describe(t, got))
	first, ok := got.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().Get("weft.raw.first")
	require.True(t, ok, "what comes downstream must know that no earlier batch comes")
	assert.EqualValues(t, 18, first.Int())
}

func TestRecordsOfUnknownKindsAreNotMissing(t *testing.T) {
	next := outlettest.NewSink()
	a := dial(t, start(t, outlettest.New(t, nil, next), nil))
	a.greet(hello)
	a.send(`raw 50000000 0600 0000 0100000000000000 0100000000000000 0000000000000000 0100000000000000 01000000 2800 0000
raw 0100000000000000 0000000000000000 0000000000000000 00000000 00000000 00000000 e703 0000
batch sequence=2 watermark=2 before=1`)
	assert.EqualValues(t, 1, a.acked())
	assert.EqualValues(t, 2, a.acked())
	assert.Equal(t, "batch 1 watermark 1000001 before 0\n", next.Next(t))
	assert.Equal(t, "batch 2 watermark 1000002 before 0\n", next.Next(t))
}

func TestNewerConnectionTakesOverTheSession(t *testing.T) {
	next := outlettest.NewSink()
	stuck := make(chan struct{})
	next.Answer = func(ctx context.Context, _ ptrace.Traces) error {
		if stuck != nil {
			close(stuck)
			stuck = nil
			<-ctx.Done() // until the other connection arrives
			return ctx.Err()
		}
		return nil
	}
	tried := stuck
	r := start(t, outlettest.New(t, nil, next), nil)
	first := dial(t, r)
	first.greet(hello)
	first.send("batch sequence=1 watermark=5")
	<-tried
	second := dial(t, r)
	assert.Zero(t, second.greet(hello))
	first.closed()
	second.send("batch sequence=1 watermark=5")
	assert.EqualValues(t, 1, second.acked())
	next.Next(t)
	assert.Empty(t, next.Got)
}

// A session survives three seconds of disconnection, but not five:
//
//	agent   ──connected──┤   away 3 s   ├──connected──┤   away 5 s
//	receiver                                                      └ lost
func TestSessionThatDoesNotReconnectIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := outlettest.NewSink()
		r, listener := startWithPipes(t, next)
		a := listener.dial(t)
		a.greet(hello)
		a.send("batch sequence=1 watermark=5")
		assert.EqualValues(t, 1, a.acked())
		<-next.Got
		require.NoError(t, a.conn.Close())
		time.Sleep(3 * time.Second)
		a = listener.dial(t)
		assert.EqualValues(t, 1, a.greet(hello))
		time.Sleep(20 * time.Second)
		assert.Empty(t, next.Got)

		require.NoError(t, a.conn.Close())
		time.Sleep(5*time.Second - 1)
		assert.Empty(t, next.Got)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Len(t, next.Got, 1)
		assert.Equal(t, "batch 2 watermark 1000005 before 0 end lost\n", next.Next(t))
		r.stop()
	})
}

// An agent may return after its session was lost, and repeat a batch whose acknowledgement it did not receive.
func TestLostSessionThatReturnsRepeatsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := outlettest.NewSink()
		r, listener := startWithPipes(t, next)
		for i := range uint64(3) {
			a := listener.dial(t)
			assert.Equal(t, 2*i, a.greet(hello), "the agent has seen no acknowledgement")
			for n := range 2*i + 2 {
				a.send(fmt.Sprintf("batch sequence=%d watermark=%d", n+1, n+1))
				assert.Equal(t, n+1, a.acked())
			}
			require.NoError(t, a.conn.Close())
			time.Sleep(time.Minute)
			synctest.Wait()
			for n := range uint64(2) {
				assert.Equal(t, fmt.Sprintf("batch %d watermark %d before 0\n", 2*i+n+1, 1_000_000+2*i+n+1), next.Next(t))
			}
			assert.Equal(t, fmt.Sprintf("batch %d watermark %d before 0 end lost\n", 2*i+3, 1_000_000+2*i+2), next.Next(t))
			assert.Empty(t, next.Got)
			refuseMemory(t, r, listener, hello)
		}
		r.stop()
	})
}

// refuseMemory greets a receiver that has no memory for the session.
func refuseMemory(t *testing.T, r *running, listener *pipes, hello string) {
	t.Helper()
	const all = 1 << 40
	a := listener.dial(t)
	r.sessions.admission.definitions.Force(all)
	a.send(hello)
	assert.Contains(t, a.refused().Message, "no memory for another session")
	r.sessions.admission.definitions.Give(all)
}

// An agent repeats the end if its connection was cut before it saw the receiver close it. It is the same session, and it ends once.
func TestRepeatedEndIsDeliveredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := outlettest.NewSink()
		r, listener := startWithPipes(t, next)
		a := listener.dial(t)
		a.greet(hello)
		a.send("batch sequence=1 watermark=1")
		assert.EqualValues(t, 1, a.acked())
		a.send("end time=2 reason=1")
		synctest.Wait()
		assert.Equal(t, "batch 1 watermark 1000001 before 0\n", next.Next(t))
		assert.Equal(t, "batch 2 watermark 1000002 before 0 end exit\n", next.Next(t))

		for _, repeats := range []bool{true, false, true} {
			a = listener.dial(t)
			assert.EqualValues(t, 1, a.greet(helloAgain(1)))
			if repeats {
				a.send("end time=2 reason=1")
			} else {
				require.NoError(t, a.conn.Close())
			}
			synctest.Wait()
			assert.Empty(t, r.sessions.byID)
			time.Sleep(time.Minute)
			assert.Empty(t, next.Got)

			refuseMemory(t, r, listener, helloAgain(1))
		}

		a = listener.dial(t)
		assert.EqualValues(t, 1, a.greet(helloAgain(1)))
		a.send("batch sequence=2 watermark=3")
		assert.EqualValues(t, 2, a.acked())
		a.send("end time=4 reason=1")
		synctest.Wait()
		assert.Equal(t, "batch 2 watermark 1000003 before 0\n", next.Next(t))
		assert.Equal(t, "batch 3 watermark 1000004 before 0 end exit\n", next.Next(t), "batches after an end need another end")
		r.stop()
	})
}

func TestReturningIsBounded(t *testing.T) {
	var r returning
	id := func(n int) (id jvmthread.SessionID) {
		binary.BigEndian.PutUint64(id[:], uint64(n))
		return id
	}
	for n := range 3 * maxReturning {
		r.add(id(n), uint64(n))
	}
	assert.Len(t, r.last, maxReturning)
	assert.Len(t, r.order, maxReturning)
	assert.Zero(t, r.take(id(7)), "it was forgotten")
	assert.EqualValues(t, 3*maxReturning-1, r.take(id(3*maxReturning-1)))
	assert.Zero(t, r.take(id(3*maxReturning-1)))
	assert.Len(t, r.last, maxReturning-1)
	assert.Len(t, r.order, maxReturning-1)
}

func TestShutdownDoesNotEndSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := outlettest.NewSink()
		r, listener := startWithPipes(t, next)
		a := listener.dial(t)
		a.greet(hello)
		require.NoError(t, a.conn.Close())
		synctest.Wait()
		r.stop()
		assert.Empty(t, next.Got)
	})
}

func TestBatchIsRetriedUntilAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := outlettest.NewSink()
		tries := 0
		next.Answer = func(_ context.Context, traces ptrace.Traces) error {
			tries++
			if tries < 10 {
				traces.ResourceSpans().RemoveIf(func(ptrace.ResourceSpans) bool { return true }) // consumers may modify it
				return assert.AnError
			}
			return nil
		}
		r, listener := startWithPipes(t, next)
		a := listener.dial(t)
		a.greet(hello)
		began := time.Now()
		a.send("batch sequence=1 watermark=5")
		assert.EqualValues(t, 1, a.acked())
		// 50 + 100 + 200 + 400 + 5 * 500 ms
		assert.Equal(t, 3250*time.Millisecond, time.Since(began))
		assert.Equal(t, "batch 1 watermark 1000005 before 0\n", next.Next(t))
		assert.Empty(t, next.Got)
		r.stop()
	})
}

func TestPermanentlyRejectedBatchIsCountedAndAcknowledged(t *testing.T) {
	tel := componenttest.NewTelemetry()
	r := start(t, outlettest.New(t, tel, consumertest.NewErr(consumererror.NewPermanent(assert.AnError))), nil)
	a := dial(t, r)
	a.greet(hello)
	a.send(events)
	assert.EqualValues(t, 1, a.acked())
	assert.EqualValues(t, 2, a.acked())
	metadatatest.AssertEqualReceiverJvmThreadEventsRefused(t, tel, []metricdata.DataPoint[int64]{{Value: 3}}, metricdatatest.IgnoreTimestamp())
}
