// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/threadtest/wiretext"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

// another returns the hello of another session.
func another(n int) string {
	secret := secretOf(n)
	return fmt.Sprintf("preamble version=1\nhello session=%s wall=1000000 monotonic=0 pid=42 secret=%x \"service.name\"=\"orders\"\n", secret.Session(), secret[:])
}

func secretOf(n int) wire.Secret {
	secret := wire.Secret{byte(n), byte(n >> 8), byte(n >> 16), 0, 2}
	for secret.Session()[0] == 0 {
		secret[3]++
	}
	return secret
}

func TestOldestHalfOpenConnectionOfTheFullestPeerIsClosed(t *testing.T) {
	cfg := DefaultConfig()
	cfg.MaxHalfOpen = 4
	d := newAdmission(&cfg)
	enter := func(peer string) (c, evicted *connection) {
		c = &connection{}
		return c, d.add(c, peer)
	}
	lonely, evicted := enter("lonely")
	assert.Nil(t, evicted)
	var crowd []*connection
	for range 3 {
		c, evicted := enter("crowd")
		assert.Nil(t, evicted)
		crowd = append(crowd, c)
	}
	for i := range 10 {
		c, evicted := enter("crowd")
		assert.Same(t, crowd[i], evicted)
		crowd = append(crowd, c)
	}
	_, evicted = enter("newcomer")
	assert.Same(t, crowd[10], evicted)
	require.NoError(t, d.admit(lonely, false))
	d.remove(lonely)
	assert.NotContains(t, d.peers, "lonely")
	for _, c := range crowd {
		d.remove(c)
	}
	assert.NotContains(t, d.peers, "crowd")
	assert.EqualValues(t, perConnection, d.held())
}

// A connection that has to go does not begin a session meanwhile.
func TestEvictedConnectionIsNotAdmitted(t *testing.T) {
	cfg := DefaultConfig()
	cfg.MaxHalfOpen = 1
	d := newAdmission(&cfg)
	c, other := &connection{}, &connection{}
	assert.Nil(t, d.add(c, "x"))
	assert.Same(t, c, d.add(other, "x"))
	require.ErrorIs(t, d.admit(c, false), errTooManyHalfOpen)
	require.ErrorIs(t, d.admit(c, true), errTooManyHalfOpen)
	require.ErrorIs(t, d.ask(c), errTooManyHalfOpen)
	require.NoError(t, d.ask(other))
	d.asked(other.peer)
	require.NoError(t, d.admit(other, false))
	d.remove(c)
	d.remove(other)
	assert.Empty(t, d.peers)
}

func TestOnePeerDoesNotTakeAllConnections(t *testing.T) {
	r := start(t, outlettest.New(t, nil, consumertest.NewNop()), func(s *Config) { s.Endpoint, s.MaxConnections = "127.0.0.1:0", 4 })
	for i := range 3 {
		dial(t, r).greet(another(i))
	}
	a := dial(t, r)
	a.send(another(3))
	assert.Equal(t, "limit of 3 connections of 127.0.0.1 (protocols::stream::max_connections_per_peer) reached", a.refused().Message)
	assert.Zero(t, dial(t, r).greet(another(1)), "an agent that reconnects replaces its connection")
}

func TestOnePeerDoesNotTakeAllSessions(t *testing.T) {
	r := start(t, outlettest.New(t, nil, consumertest.NewNop()), func(s *Config) {
		s.Endpoint, s.MaxSessions, s.SessionLinger = "127.0.0.1:0", 4, time.Hour
	})
	for i := range 3 {
		a := dial(t, r)
		a.greet(another(i))
		a.send("batch sequence=1")
		a.acked()
		require.NoError(t, a.conn.Close())
	}
	a := dial(t, r)
	a.send(another(3))
	assert.Contains(t, a.refused().Message, "limit of 3 sessions of 127.0.0.1 ")
}

func TestPeerNames(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7:1": "192.0.2.7", "[::ffff:192.0.2.7]:1": "192.0.2.7", "[2001:db8::1:2:3:4]:1": "2001:db8::/64", "[::1]:1": "::1",
	} {
		resolved, err := net.ResolveTCPAddr("tcp", address)
		require.NoError(t, err)
		assert.Equal(t, want, peerName(addressed{remote: resolved}))
	}
	assert.Equal(t, "unknown user", peerName(addressed{remote: &net.UnixAddr{}}))

	r := start(t, outlettest.New(t, nil, consumertest.NewNop()), nil)
	dial(t, r).greet(hello)
	r.sessions.admission.mu.Lock()
	defer r.sessions.admission.mu.Unlock()
	assert.Contains(t, r.sessions.admission.peers, fmt.Sprintf("user %d", os.Getuid()))
}

type addressed struct {
	net.Conn

	remote net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.remote }

// Whatever a connection does slowly, it ends in time:
//
//	nothing    preamble   8 bytes of hello   then nothing
//	└─ 2 s ─┘  └──────────── 10 s ────────────┘
func TestSlowGreetingsEnd(t *testing.T) {
	stream, err := wiretext.AppendStream(nil, hello)
	require.NoError(t, err)
	for _, test := range []struct {
		name  string
		bytes int // sent, one each pause
		pause time.Duration
		lives time.Duration
		why   string
	}{
		{"nothing", 0, 0, 2 * time.Second, "no preamble within 2s"},
		{"a byte a second", 100, time.Second, 2 * time.Second, "no preamble within 2s"},
		{"preamble", 8, 0, 10 * time.Second, "no hello within 10s"},
		{"slow hello", 80, 240 * time.Millisecond, 10 * time.Second, "no hello within 10s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, listener := startWithPipes(t, consumertest.NewNop())
				a := listener.dial(t)
				began := time.Now()
				go func() {
					for i := range min(test.bytes, len(stream)-1) {
						if _, err := a.conn.Write(stream[i : i+1]); err != nil {
							return
						}
						time.Sleep(test.pause)
					}
				}()
				assert.Equal(t, test.why, a.refused().Message)
				assert.Equal(t, test.lives, time.Since(began))
				r.stop()
				time.Sleep(time.Minute) // until the writer sees it
			})
		})
	}
}

// A slow but honest link of 64 kbit/s may send the largest frame; a byte a second is too slow.
func TestSlowFramesEnd(t *testing.T) {
	big, err := wiretext.AppendStream(nil, "status id=1 error=\""+strings.Repeat("x", 60_000)+"\"\nbatch sequence=1")
	require.NoError(t, err)
	for _, test := range []struct {
		rate  int // bytes a second
		lives bool
	}{{frameRate, true}, {frameRate / 2, true}, {1000, false}, {1, false}} {
		synctest.Test(t, func(t *testing.T) {
			r, listener := startWithPipes(t, consumertest.NewNop())
			a := listener.dial(t)
			a.greet(hello)
			began := time.Now()
			go func() {
				for rest := big; len(rest) > 0; {
					n := min(test.rate, len(rest))
					if _, err := a.conn.Write(rest[:n]); err != nil {
						return
					}
					rest = rest[n:]
					time.Sleep(time.Second)
				}
			}()
			if test.lives {
				assert.EqualValues(t, 1, a.acked())
			} else {
				a.closed()
				assert.Less(t, time.Since(began), silence)
			}
			r.stop()
			time.Sleep(time.Minute)
		})
	}
}

// A frame waits for memory that others hold; without any for long, the agent reconnects.
func TestFramesWaitForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, listener := startWithPipesAnd(t, Settings{Out: outlettest.New(t, nil, consumertest.NewNop())}, func(s *Config) { s.MaxBuffersMiB = 16 })
		a := listener.dial(t)
		a.greet(hello)
		admission := r.sessions.admission
		admission.buffers.Force(16 << 20)
		began := time.Now()
		go a.send("class id=1 name=\"" + strings.Repeat("x", 60_000) + "\"\nbatch sequence=1")
		time.Sleep(5 * time.Second)
		admission.buffers.Give(16 << 20)
		assert.EqualValues(t, 1, a.acked())
		assert.Less(t, time.Since(began), 6*time.Second)

		admission.buffers.Force(16 << 20)
		go a.send("class id=1 name=\"" + strings.Repeat("x", 60_000) + "\"\nbatch sequence=2")
		refuse := a.refused()
		assert.Equal(t, wire.RefuseLimit, refuse.Code)
		assert.Contains(t, refuse.Message, "protocols::stream::max_buffers_mib")
		admission.buffers.Give(16 << 20)
		r.stop()
		assert.Zero(t, admission.buffers.Held())
	})
}

// A receiver takes no more than what the process leaves it, and gives back all at its end.
func TestDefinitionsCountInTheProcess(t *testing.T) {
	defer budget.Process.SetLimit(budget.Process.SetLimit(16 << 20))
	buffers := budget.Process.Held(budget.Buffers) // other tests end without their connections
	synctest.Test(t, func(t *testing.T) {
		r, listener := startWithPipes(t, consumertest.NewNop())
		a := listener.dial(t)
		a.greet(hello)
		for i := range 512 {
			a.send(fmt.Sprintf("class id=%d name=\"%d%s\"", i+1, i, strings.Repeat("x", 60_000)))
		}
		a.send("batch sequence=1")
		assert.EqualValues(t, 1, a.acked())
		held := budget.Process.Held(budget.Definitions)
		assert.Greater(t, held, int64(300_000))
		assert.Less(t, held, int64(8<<20), "of 30 MB")
		r.stop()
		assert.Zero(t, budget.Process.Held(budget.Definitions))
		assert.Equal(t, buffers, budget.Process.Held(budget.Buffers))
	})
}

func TestBatchesWaitForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, listener := startWithPipes(t, consumertest.NewNop())
		a := listener.dial(t)
		a.greet(hello)
		flight := r.sessions.flight
		flight.Force(1 << 30)
		go a.send("batch sequence=1")
		time.Sleep(time.Minute / 2)
		flight.Give(1 << 30)
		assert.EqualValues(t, 1, a.acked())
		r.stop()
		assert.Zero(t, flight.Held())
	})
}

// If only one user may connect, all connections are for that user.
func TestShareOfAPeer(t *testing.T) {
	for _, test := range []struct {
		endpoint, mode string
		want           int
	}{
		{"", "0600", 2048},
		{"unix:///run/weft/agents.sock", "0600", 2048},
		{"unix:///run/weft/agents.sock", "0660", 1536},
		{"tcp://localhost:4327", "0600", 1536},
		{"localhost:4327", "0600", 1536},
	} {
		cfg := DefaultConfig()
		cfg.Endpoint, cfg.SocketMode = test.endpoint, test.mode
		assert.Equal(t, test.want, cfg.connectionsPerPeer(), "%+v", test)
		cfg.MaxConnectionsPerPeer = 7
		assert.Equal(t, 7, cfg.connectionsPerPeer())
	}
}
