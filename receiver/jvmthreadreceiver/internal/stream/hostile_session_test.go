// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package stream

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/wire"
)

// victim is the number of the session that attacks want to take over.
const victim = 7

// owned returns an agent with a session that has sent a batch.
func (h *hostile) owned() *agent {
	h.Helper()
	a := h.greeted(victim)
	a.send("batch sequence=1 watermark=1")
	assert.EqualValues(h, 1, a.acked())
	return a
}

// against attacks a session with a changed hello of that session, and checks that its agent goes on.
func (h *hostile) against(change func(hello string) string, then string) string {
	h.Helper()
	a := h.owned()
	foe := h.foe()
	_, _ = foe.conn.Write(stream(h, change(another(victim))+then))
	why := h.outcome(foe)
	a.send("batch sequence=2 watermark=2")
	assert.EqualValues(h, 2, a.acked())
	return strings.NewReplacer(secretOf(victim).Session().String(), "…").Replace(why)
}

// withSecret replaces the secret of a hello.
func withSecret(hello string) string {
	own, foreign := secretOf(victim+1), secretOf(victim)
	return strings.Replace(hello, hex.EncodeToString(foreign[:]), hex.EncodeToString(own[:]), 1)
}

func sessionAttacks() []attack {
	return []attack{
		{"squatting of sessions", "2,000 hellos, each of another session", overUnix, func(h *hostile) string {
			for i := range 2000 {
				_ = h.greeted(100 + i).conn.Close()
			}
			h.greeted(2)
			return "sessions without a batch are forgotten; a newcomer gets in"
		}},
		{"connections of one peer", "300 agents of one address that stay", overTCP, func(h *hostile) string {
			var refused atomic.Int64
			h.each(300, func(i int) {
				a := h.foe()
				_, _ = a.conn.Write(stream(h, another(100+i)))
				if frame, err := a.reader.Next(); err != nil || frame.Kind != wire.FrameWelcome {
					refused.Add(1)
				}
			})
			assert.GreaterOrEqual(h, refused.Load(), int64(300-hostileConnections*3/4))
			other := h.from("127.0.0.3")
			_, err := other.Write(stream(h, another(1)))
			require.NoError(h, err)
			frame, err := wire.NewReader(other, wire.MaxControl).Next()
			require.NoError(h, err)
			assert.Equal(h, wire.FrameWelcome, frame.Kind)
			return "refused beyond three quarters; another address gets in"
		}},
		{"takeover", "the public id of another session in a hello without a secret", overUnix, func(h *hostile) string {
			return h.against(func(hello string) string { return regexp.MustCompile("secret=[0-9a-f]+ ").ReplaceAllString(hello, "") }, "batch sequence=2")
		}},
		{"takeover with a secret", "the public id of another session with a secret of one's own", overUnix, func(h *hostile) string {
			return h.against(withSecret, "batch sequence=2")
		}},
		{"silencing", "the same, with batch 1,000,000,000", overUnix, func(h *hostile) string {
			return h.against(withSecret, "batch sequence=1000000000")
		}},
		{"foreign end", "the same, with an end", overUnix, func(h *hostile) string { return h.against(withSecret, "end reason=1") }},
		{"foreign acknowledgement", "the same, with 1,000,000,000 batches acknowledged by another receiver", overUnix, func(h *hostile) string {
			return h.against(func(hello string) string {
				return strings.Replace(withSecret(hello), "pid=42", "pid=42 acked=1000000000", 1)
			}, "")
		}},
		sends("leap", "batch 1,000,000,000 of its own session", "batch sequence=1000000000"),
		sends("batch 0", "a batch with sequence 0", "batch sequence=0"),
		{"repeated batches", "the same batch 10,000 times", overUnix, func(h *hostile) string {
			a := h.session()
			frame := stream(h, "batch sequence=1 watermark=1\n section thread=1\n  event yield time=1")
			go func() {
				for range 10_000 {
					_, _ = a.conn.Write(frame)
				}
			}()
			for range 10_000 {
				assert.EqualValues(h, 1, a.acked())
			}
			assert.Equal(h, 1, h.ledger.delivered())
			return "delivered once, acknowledged each time"
		}},
		{"churn", "2,000 connections that come, greet and go", overUnix, func(h *hostile) string {
			h.each(4, func(i int) {
				for n := range 500 {
					_ = h.greeted(1000*i + n).conn.Close()
				}
			})
			return "served"
		}},
		{"fight for a session", "200 connections at once for one session", overUnix, func(h *hostile) string {
			h.each(200, func(int) {
				a := h.foe()
				_, _ = a.conn.Write(stream(h, another(victim)))
				_, _ = a.reader.Next() // welcome, refusal or the end
			})
			return "the last one has it"
		}},
		{"end without a session", "end right after the hello", overUnix, func(h *hostile) string {
			a := h.session()
			a.send("end reason=1")
			return h.outcome(a)
		}},
		sends("broken end", "an end of one byte", "raw 01000000 07000000 00"),
		{"unrequested answers", "100,000 answers to controls that were never sent", overUnix, func(h *hostile) string {
			a := h.session()
			status := stream(h, strings.Repeat("status id=4294967295 error=\"no\" \"depth\"=\"8\"\n", 1000))
			for range 100 {
				_, err := a.conn.Write(status)
				require.NoError(h, err)
			}
			a.send("batch sequence=1")
			assert.EqualValues(h, 1, a.acked())
			return "ignored"
		}},
		{"large answers", "100 answers of 1 MiB", overUnix, func(h *hostile) string {
			a := h.session()
			status := stream(h, fmt.Sprintf("status id=1 error=%q", strings.Repeat("x", 65_000))+strings.Repeat(` ""=""`, 65_535))
			for range 100 {
				_, err := a.conn.Write(status)
				require.NoError(h, err)
			}
			a.send("batch sequence=1")
			assert.EqualValues(h, 1, a.acked())
			return "ignored"
		}},
	}
}
