// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package stream

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/wire"
)

// framed returns a frame in text form, with a length and a payload that need not agree.
func framed(length uint32, kind wire.FrameKind, payload []byte) string {
	head := binary.LittleEndian.AppendUint32(nil, length)
	head = binary.LittleEndian.AppendUint32(head, uint32(kind))
	return fmt.Sprintf("raw %x %x", head, payload)
}

func greetingAttacks() []attack {
	const preamble = "preamble version=1\n"
	return []attack{
		{"half-open flood", "2,000 connections that send nothing", overUnix, func(h *hostile) string {
			for range 2000 {
				h.connect()
			}
			h.greeted(2)
			assert.Positive(h, h.counter("connections_bad"))
			return "the oldest ones are closed; a newcomer gets in"
		}},
		{"half-open flood over TCP", "1,000 connections from one address, while an agent at another one is slow", overTCP, func(h *hostile) string {
			slow := h.from("127.0.0.2")
			_, err := slow.Write(stream(h, preamble))
			require.NoError(h, err)
			for range 3 * hostileHalfOpen {
				h.connect()
			}
			_, err = slow.Write(stream(h, another(2))[wire.PreambleSize:])
			require.NoError(h, err)
			frame, err := wire.NewReader(slow, wire.MaxControl).Next()
			require.NoError(h, err)
			assert.Equal(h, wire.FrameWelcome, frame.Kind)
			for range 1000 - 3*hostileHalfOpen {
				h.connect()
			}
			return "that address loses its oldest ones; the slow agent gets in"
		}},
		{"half-open flood over TLS", "300 connections without a handshake", overTLS, func(h *hostile) string {
			for range 300 {
				h.connect()
			}
			h.greeted(2)
			return "the oldest ones are closed; a newcomer gets in"
		}},
		{"slow preamble", "a byte of the preamble, then nothing", overUnix, func(h *hostile) string {
			a := h.foe()
			_, _ = a.conn.Write([]byte("W"))
			return h.outcome(a)
		}},
		{"slow hello", "a byte of the hello each 20 ms", overUnix, func(h *hostile) string {
			a := h.foe()
			go trickle(a.conn, stream(h, another(1)))
			return h.outcome(a)
		}},
		begins("another protocol", "an HTTP request", "raw 474554202f20485454502f312e310d0a0d0a"),
		begins("another version", "version 65535", "preamble version=65535"),
		begins("hello of 4 GiB", "a length of 4,294,967,295", preamble+framed(1<<32-1, wire.FrameHello, nil)),
		begins("hello of 64 KB attributes", "a hello with 65,535 attributes of 64 KB: a length of 1 MiB is all a frame may have",
			preamble+framed(1<<20, wire.FrameHello, nil)),
		begins("hello with many attributes", "10,000 attributes, which each batch would carry", strings.TrimSpace(another(1))+strings.Repeat(` "k"="v"`, 10_000)),
		begins("hello that lies", "a count of attributes beyond the frame", preamble+framed(46, wire.FrameHello, append(make([]byte, 44), 0xff, 0xff))),
		begins("empty hello", "a length of 0", preamble+framed(0, wire.FrameHello, nil)),
		begins("no hello", "a batch first", preamble+"batch sequence=1"),
		sends("second hello", "another hello on the same connection", strings.Split(another(2), "\n")[1]),
		{"no TLS", "the plain protocol to a TLS port", overTLS, func(h *hostile) string {
			conn := h.connect()
			_, _ = conn.Write(stream(h, another(1)))
			_, _ = io.Copy(io.Discard, conn) // a TLS alert
			return "closed"
		}},
		{"stalled TLS handshake", "a part of the client's hello, then nothing", overTLS, func(h *hostile) string {
			conn := h.connect()
			_, _ = conn.Write([]byte{0x16, 3, 1, 1, 0, 1, 0, 0, 0xfc})
			_, _ = io.Copy(io.Discard, conn)
			return "closed within hello_timeout"
		}},
		{"TLS garbage", "random bytes instead of encrypted records, after the handshake", overTLS, func(h *hostile) string {
			a := h.session()
			raw := a.conn.(*tls.Conn).NetConn()
			garbage := []byte{0x17, 3, 3, 1, 0}
			for range 256 {
				garbage = append(garbage, byte(rand.Uint32()))
			}
			_, _ = raw.Write(garbage)
			_, _ = io.Copy(io.Discard, raw)
			return "closed"
		}},
		{"TLS record without encryption", "a client's hello in the clear, after the handshake of TLS 1.2", overTLS, func(h *hostile) string {
			conn := h.connect()
			client := tls.Client(conn, &tls.Config{RootCAs: h.pool, ServerName: "127.0.0.1", MaxVersion: tls.VersionTLS12})
			a := &agent{tb: h, conn: client, reader: wire.NewReader(client, wire.MaxControl)}
			a.greet(another(1))
			_, _ = conn.Write([]byte{0x16, 3, 3, 0, 4, 1, 0, 0, 0})
			_, _ = io.Copy(io.Discard, conn)
			return "closed"
		}},
		renegotiation(),
	}
}

// from returns a connection from an address of this machine.
func (h *hostile) from(address string) net.Conn {
	h.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	conn, err := dialer.DialContext(h.Context(), "tcp", h.r.listener.Addr().String())
	require.NoError(h, err)
	h.Cleanup(func() { _ = conn.Close() })
	return conn
}

// trickle writes single bytes until the connection ends.
func trickle(conn net.Conn, b []byte) {
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for i := range b {
		if _, err := conn.Write(b[i : i+1]); err != nil {
			return
		}
		<-ticks.C
	}
}
