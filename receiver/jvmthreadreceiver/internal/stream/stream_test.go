// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

func TestSessionIsDeliveredAsCarriers(t *testing.T) {
	for name, endpoint := range map[string]string{"unix": "", "tcp": "tcp://127.0.0.1:0"} {
		t.Run(name, func(t *testing.T) {
			next := outlettest.NewSink()
			r := start(t, outlettest.New(t, nil, next), func(s *Config) {
				if endpoint != "" {
					s.Endpoint = endpoint
				}
			})
			content, err := os.ReadFile("../../../../protocol/vectors/session.txt")
			require.NoError(t, err)
			text, _, _ := strings.Cut(string(content), "-- hex --\n")
			a := dial(t, r)
			a.greet(text)
			for sequence := range uint64(4) {
				assert.Equal(t, sequence+1, a.acked())
			}
			a.closed()

			stack := `stack "at com.acme.OrderBook.add(OrderBook.java:42)\nat com.acme.OrderBook.run(OrderBook.java:10)"`
			assert.Equal(t, `batch 1 watermark 1700000000000001000 before 0 thread 11 http-exec-1 thread 12 http-exec-2
  1700000000000000100 threadStart thread 11
  1700000000000000200 threadStart thread 12
  1700000000000000900 contendedEnter thread 12 peer 11 lock com.acme.OrderBook 5a1d `+stack+"\n", next.Next(t))
			assert.Equal(t, `batch 2 watermark 1700000000000002000 before 3
  1700000000000001500 contendedEntered thread 12 lock com.acme.OrderBook 5a1d
`, next.Next(t))
			assert.Equal(t, `batch 3 watermark 1700000000000004000 before 4
  1700000000000003000 threadEnd thread 11
  1700000000000002000 gap thread 12 arg 2
  1700000000000003500 threadEnd thread 12
`, next.Next(t))
			assert.Equal(t, "batch 4 watermark 1700000000000005000 before 6\n", next.Next(t))
			assert.Equal(t, "batch 5 watermark 1700000000000005000 before 6 end exit\n", next.Next(t))
		})
	}
}

// The wall clock is that of the hello until it differs by more than 100 ms; then each carrier has the first reading that did, for those who join
// later. Times of the session do not jump.
func TestWallClockIsSet(t *testing.T) {
	next := outlettest.NewSink()
	a := dial(t, start(t, outlettest.New(t, nil, next), nil))
	a.greet(hello) // wall 1000000 at 0
	sequence := 0
	send := func(clocks string) string {
		sequence++
		a.send(fmt.Sprintf("%s\nbatch sequence=%d watermark=%d000000000", clocks, sequence, sequence))
		assert.EqualValues(t, sequence, a.acked())
		_, clock, _ := strings.Cut(strings.TrimSpace(next.Next(t)), " before 0")
		return clock
	}
	assert.Empty(t, send("clock wall=101000000 monotonic=0"), "100 ms are not enough")
	ahead := " clock 21602001000001 at 1901000000"
	assert.Equal(t, ahead, send("clock wall=21602001000001 monotonic=1900000000"))
	assert.Equal(t, ahead, send("clock wall=21603101000001 monotonic=3000000000"), "still the same hour")
	assert.Equal(t, " clock 3901000000 at 3901000000", send("clock wall=3901000000 monotonic=3900000000"), "back again")
	a.send("clock wall=-1 monotonic=0")
	assert.Contains(t, a.refused().Message, "clock: time is -1, want 0 to 4611686018427387903")
}

// The owner of a lock may have no events for hours; it is still described, once for each of its definitions.
func TestPeersAreDescribedOnce(t *testing.T) {
	next := outlettest.NewSink()
	r := start(t, outlettest.New(t, nil, next), nil)
	a := dial(t, r)
	a.greet(hello)
	sequence := 0
	contend := func(thread, owner int) string {
		sequence++
		a.send(fmt.Sprintf(`batch sequence=%d
 section thread=%d
  event contendedEnter time=%[1]d peer=%[3]d
  event joinStart time=%[1]d peer=%[3]d
`, sequence, thread, owner))
		assert.EqualValues(t, sequence, a.acked())
		head, _, _ := strings.Cut(next.Next(t), "\n")
		_, described, _ := strings.Cut(head, " thread ")
		return described
	}
	a.send("thread id=1 name=\"owner\"\nthread id=2 name=\"http\"\nthread id=3")
	assert.Equal(t, "2 http thread 1 owner", contend(2, 1))
	assert.Empty(t, contend(2, 1), "both have been described")
	assert.Empty(t, contend(1, 2), "whichever of them has the events")
	assert.Empty(t, contend(1, 1))
	assert.Empty(t, contend(2, 3), "the peer has no name yet")
	a.send("thread id=3 name=\"late\"\nthread id=1 name=\"renamed\"")
	assert.Equal(t, "3 late", contend(2, 3))
	assert.Equal(t, "1 renamed", contend(2, 1))
	assert.Empty(t, contend(2, 99), "never defined")

	require.NoError(t, a.conn.Close())
	a = dial(t, r)
	a.greet(hello)
	a.send("thread id=1 name=\"renamed\"\nthread id=2 name=\"http\"")
	assert.Equal(t, "2 http thread 1 renamed", contend(2, 1), "a redefined peer is described again")
}

func TestPeerIsDescribedInEachRetry(t *testing.T) {
	next := outlettest.NewSink()
	tries := 0
	next.Answer = func(context.Context, ptrace.Traces) error {
		if tries++; tries < 3 {
			return assert.AnError
		}
		return nil
	}
	a := dial(t, start(t, outlettest.New(t, nil, next), nil))
	a.greet(hello)
	a.send("thread id=1 name=\"owner\"\nbatch sequence=1\n section thread=2\n  event contendedEnter peer=1")
	a.acked()
	assert.Contains(t, next.Next(t), "thread 1 owner")
}

func TestResourceDescribesTheJVM(t *testing.T) {
	next := outlettest.NewSink()
	peers := make(chan client.Info, 1)
	next.Answer = func(ctx context.Context, _ ptrace.Traces) error {
		peers <- client.FromContext(ctx)
		return nil
	}
	a := dial(t, start(t, outlettest.New(t, nil, next), nil))
	a.greet(hello)
	a.send("batch sequence=1 watermark=5")
	a.acked()
	assert.Equal(t, map[string]any{
		"service.name": "orders", "service.instance.id": orders.String(), "process.pid": int64(42), "weft.session.id": orders.String(),
	}, (<-next.Got).ResourceSpans().At(0).Resource().Attributes().AsRaw())
	assert.NotNil(t, (<-peers).Addr)
}

func TestShutdownDoesNotWaitForIdleAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, listener := startWithPipes(t, consumertest.NewNop())
		mute := listener.dial(t) // sends nothing
		idle := listener.dial(t)
		idle.greet(hello)
		began := time.Now()
		r.stop()
		assert.Zero(t, time.Since(began))
		assert.Equal(t, wire.Refuse{Code: wire.RefuseShutdown, Message: "the receiver is shutting down"}, idle.refused())
		mute.refused()
	})
}

func TestShutdownInterruptsARetry(t *testing.T) {
	next := outlettest.NewSink()
	tried := make(chan struct{}, 1000)
	next.Answer = func(context.Context, ptrace.Traces) error {
		tried <- struct{}{}
		return assert.AnError
	}
	r := start(t, outlettest.New(t, nil, next), nil)
	a := dial(t, r)
	a.greet(hello)
	a.send("batch sequence=1 watermark=5")
	<-tried
	r.stop()
	assert.Empty(t, next.Got)
	assert.Equal(t, wire.RefuseShutdown, a.refused().Code, "the batch is not acknowledged")
}

func TestProtocolErrorAffectsOneConnection(t *testing.T) {
	next := outlettest.NewSink()
	r := start(t, outlettest.New(t, nil, next), nil)
	good := dial(t, r)
	good.greet(hello)
	other := helloOf(1)
	for _, test := range []struct {
		name, send string
		code       wire.RefuseCode
		want       string
	}{
		{"http", "raw 474554202f20485454502f312e310d0a0d0a", wire.RefuseBadFrame, `preamble: begins with "GET ", want "WEFT"`},
		{"version", "preamble version=2", wire.RefuseVersion, "unsupported protocol version 2, want 1"},
		{"oversize", "preamble version=1\nraw ffffffff01000000", wire.RefuseBadFrame, "frame 1 at byte 8: hello: length 4294967295 exceeds the limit of 131072 bytes"},
		{"short hello", "preamble version=1\nraw 02000000 01000000 ffff", wire.RefuseBadFrame, "frame 1 at byte 8: hello: session needs 16 bytes, have 2"},
		{"no hello", "preamble version=1\nbatch sequence=1", wire.RefuseBadFrame, "frame 1 at byte 8: batch: received before the hello"},
		{"second hello", other + strings.Split(hello, "\n")[1], wire.RefuseBadFrame, "frame 2 at byte 100: hello: received twice"},
		{"ack", other + "ack sequence=1", wire.RefuseBadFrame, "frame 2 at byte 100: ack: only receivers may send it"},
		{"class 0", other + "class id=0", wire.RefuseBadFrame, "frame 2 at byte 100: class: id is 0"},
		{"short end", other + "raw 01000000 07000000 00", wire.RefuseBadFrame, "frame 2 at byte 100: end: time needs 8 bytes, have 1"},
		{"batch 0", other + "batch sequence=0", wire.RefuseBadFrame, "frame 2 at byte 100: batch: sequence is 0"},
		{
			"before 1970", other + "batch sequence=1\n section thread=1\n  event yield\n  event yield time=-1000001",
			wire.RefuseBadFrame, "frame 2 at byte 100: batch: event 2 is 1 ns before 1970",
		},
		{
			"negative gap", other + "batch sequence=1\n section thread=1\n  event gap arg=-1",
			wire.RefuseBadFrame, "frame 2 at byte 100: batch: a gap of -1 events, want 0 to 1099511627776",
		},
		{
			"too many before", other + "batch sequence=1 before=18446744073709551615",
			wire.RefuseBadFrame, "frame 2 at byte 100: batch: 18446744073709551615 events before it, want at most 1152921504606846976",
		},
		{
			"aggregate before too many", other + "aggregate sequence=1 before=18446744073709551615",
			wire.RefuseBadFrame, "frame 2 at byte 100: aggregate: 18446744073709551615 events before it, want at most 1152921504606846976",
		},
		{
			"second section", other + "raw 48000000 06000000 0100000000000000 0000000000000000 0000000000000000 " +
				"0100000000000000 00000000 2800 0000 0200000000000000 09000000 2800 0000 0000000000000000 0000000000000000",
			wire.RefuseBadFrame, "frame 2 at byte 100: batch: section 2: count 9 needs 360 bytes, have 16",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := dial(t, r)
			a.send(test.send)
			if strings.HasPrefix(test.send, other) {
				a.next(wire.FrameWelcome)
			}
			assert.Equal(t, wire.Refuse{Code: test.code, Message: test.want}, a.refused())
		})
	}
	good.send("batch sequence=1 watermark=5")
	assert.EqualValues(t, 1, good.acked())
	assert.Equal(t, "batch 1 watermark 1000005 before 0\n", next.Next(t))
	assert.Empty(t, next.Got, "no part of an invalid batch is delivered")
}

func TestSlowHelloIsRefused(t *testing.T) {
	r := start(t, outlettest.New(t, nil, consumertest.NewNop()), func(s *Config) { s.HelloTimeout = time.Millisecond })
	a := dial(t, r)
	assert.Equal(t, wire.Refuse{Code: wire.RefuseBadFrame, Message: "no hello within 1ms"}, a.refused())
}

func TestTooManyConnectionsAreRefused(t *testing.T) {
	r := start(t, outlettest.New(t, nil, consumertest.NewNop()), func(s *Config) { s.MaxConnections = 1 })
	first := dial(t, r)
	first.greet(hello)
	second := dial(t, r)
	second.send(another(1))
	assert.Equal(t, wire.Refuse{
		Code: wire.RefuseLimit, Message: "limit of 1 connections (protocols::stream::max_connections) reached",
	}, second.refused())
}

func TestTooManySessionsAreRefused(t *testing.T) {
	r := start(t, outlettest.New(t, nil, consumertest.NewNop()), func(s *Config) { s.MaxSessions = 1 })
	first := dial(t, r)
	first.greet(hello)
	second := dial(t, r)
	second.send(helloOf(1))
	assert.Equal(t, wire.Refuse{
		Code: wire.RefuseLimit, Message: "limit of 1 sessions (protocols::stream::max_sessions) reached",
	}, second.refused())
}
