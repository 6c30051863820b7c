// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package stream

import (
	"io"
	"net"
	"strings"
	"sync"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/wire"
)

func frameAttacks() []attack {
	return []attack{
		sends("frame of 4 GiB", "a length of 4,294,967,295", framed(1<<32-1, wire.FrameBatch, nil)),
		sends("empty batch frame", "a batch of 0 bytes", framed(0, wire.FrameBatch, nil)),
		sends("empty class", "a class of 0 bytes", framed(0, wire.FrameClass, nil)),
		sends("empty status", "an answer of 0 bytes", framed(0, wire.FrameStatus, nil)),
		sends("false welcome", "a frame that only receivers send", "welcome acked=9"),
		sends("false ack", "a frame that only receivers send", "ack sequence=1000000000"),
		sends("false refusal", "a frame that only receivers send", "refuse code=3 message=\"go away\""),
		sends("false control", "a frame that only receivers send", "control id=1 \"pause\"=\"true\""),
		{"frames of files", "an index, and a stack by its text", overUnix, func(h *hostile) string {
			a := h.session()
			a.send(framed(3, wire.FrameIndex, []byte("xyz")) + "\n" + framed(0, wire.FrameStackText, nil) + "\nbatch sequence=1")
			assert.EqualValues(h, 1, a.acked())
			return "ignored"
		}},
		{"unknown frames", "1,000,000 frames of unknown kinds", overUnix, func(h *hostile) string {
			a := h.session()
			frames := stream(h, strings.Repeat(framed(0, 99, nil)+"\n", 10_000))
			for range 100 {
				_, err := a.conn.Write(frames)
				require.NoError(h, err)
			}
			a.send("batch sequence=1")
			assert.EqualValues(h, 1, a.acked())
			return "skipped"
		}},
		{"slow frame", "a byte of a batch each 20 ms", overUnix, func(h *hostile) string {
			a := h.session()
			go trickle(a.conn, stream(h, "batch sequence=1"+strings.Repeat("\n section thread=1", 1000)))
			return h.outcome(a)
		}},
		{"stalled frames", "190 connections with all but the last byte of 1 MiB", overUnix, func(h *hostile) string {
			frame := stream(h, framed(1<<20, wire.FrameBatch, nil))
			frame = append(frame, make([]byte, 1<<20-1)...)
			var wg sync.WaitGroup
			for i := range 190 {
				a := h.greeted(100 + i)
				wg.Go(func() { _, _ = a.conn.Write(frame) })
			}
			h.advance(20)
			assert.LessOrEqual(h, h.r.sessions.admission.buffers.Held(), int64(hostileMiB<<20+hostileConnections*perConnection))
			wg.Wait()
			return "they wait for memory, unread, and are closed when their time is over"
		}},
	}
}

func transportAttacks() []attack {
	return []attack{
		{"deaf agent", "batches, without reading the acknowledgements", overUnix, func(h *hostile) string {
			a := h.session()
			batches := stream(h, strings.Repeat("batch sequence=1\n", 1000))
			for {
				if _, err := a.conn.Write(batches); err != nil {
					return "closed when an acknowledgement cannot be written"
				}
			}
		}},
		{"reset", "a TCP reset in the middle of a frame, 200 times", overTCP, func(h *hostile) string {
			for i := range 200 {
				a := h.greeted(100 + i)
				_, _ = a.conn.Write(stream(h, framed(1000, wire.FrameBatch, make([]byte, 500))))
				require.NoError(h, a.conn.(*net.TCPConn).SetLinger(0))
				_ = a.conn.Close()
			}
			return "its connection ends"
		}},
		{"half-closed", "the end of its stream, while it still reads", overTCP, func(h *hostile) string {
			a := h.session()
			require.NoError(h, a.conn.(*net.TCPConn).CloseWrite())
			_, err := io.Copy(io.Discard, a.conn)
			require.NoError(h, err)
			return "closed"
		}},
		{"end of a frame's half", "the end of its stream within a frame", overUnix, func(h *hostile) string {
			a := h.session()
			_, _ = a.conn.Write(stream(h, framed(1000, wire.FrameBatch, make([]byte, 500))))
			require.NoError(h, a.conn.(*net.UnixConn).CloseWrite())
			return h.outcome(a)
		}},
		{"random bytes", "1,000 connections with random frames after the hello", overUnix, func(h *hostile) string {
			h.each(4, func(i int) {
				for n := range 250 {
					a := h.greeted(1000*i + n)
					_, _ = a.conn.Write(randomFrames(uint64(1000*i + n)))
					_ = a.conn.(*net.UnixConn).CloseWrite()
					_, _ = io.Copy(io.Discard, a.conn)
					_ = a.conn.Close()
				}
			})
			return "refused or served"
		}},
	}
}
