// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

const (
	noSecret = "the hello of session 064a448cd3657ee2d005a68bf060deb8 has no secret: update the agent, or set " +
		"protocols::stream::allow_unverified_sessions: true, which lets any process that can connect take over the sessions of old agents"
	notItsSecret = "the secret is not that of session 064a448cd3657ee2d005a68bf060deb8: another process claims the session, or the agent is broken"
	secretGone   = "session 064a448cd3657ee2d005a68bf060deb8 was opened with a secret, and this hello has none: another process claims the session"
)

func unauthorizedWith(message string) wire.Refuse {
	return wire.Refuse{Code: wire.RefuseUnauthorized, Message: message}
}

var wrongHello = strings.Replace(hello, "secret=0001", "secret=0002", 1)

// Who knows only the session, which is public, can neither take it over nor end it, before and after a restart of the receiver.
func TestASessionBelongsToItsSecret(t *testing.T) {
	next := outlettest.NewSink()
	r := start(t, outlettest.New(t, nil, next), nil)
	a := dial(t, r)
	a.greet(hello)
	a.send("batch sequence=1 watermark=5")
	assert.EqualValues(t, 1, a.acked())
	for text, want := range map[string]string{bareHello: noSecret, wrongHello: notItsSecret} {
		thief := dial(t, r)
		thief.send(text + "batch sequence=2 watermark=6\nend time=7 reason=1")
		assert.Equal(t, unauthorizedWith(want), thief.refused())
	}
	a.send("batch sequence=2 watermark=6")
	assert.EqualValues(t, 2, a.acked(), "its connection is not disturbed")

	restarted := start(t, outlettest.New(t, nil, next), nil)
	thief := dial(t, restarted)
	thief.send(wrongHello)
	assert.Equal(t, unauthorizedWith(notItsSecret), thief.refused())
	a = dial(t, restarted)
	assert.EqualValues(t, 2, a.greet(helloAgain(2)))
}

func TestOldAgentsMayBeAllowed(t *testing.T) {
	r := start(t, outlettest.New(t, nil, outlettest.NewSink()), func(c *Config) { c.AllowUnverifiedSessions = true })
	old := dial(t, r)
	assert.Zero(t, old.greet(bareHello))
	old.send("batch sequence=1 watermark=5")
	assert.EqualValues(t, 1, old.acked())

	thief := dial(t, r)
	thief.send(wrongHello)
	assert.Equal(t, unauthorizedWith(notItsSecret), thief.refused(), "a secret is checked in any case")

	owner := dial(t, r)
	assert.EqualValues(t, 1, owner.greet(hello), "the owner proves that it is the owner")
	old.closed()
	thief = dial(t, r)
	thief.send(bareHello)
	assert.Equal(t, unauthorizedWith(secretGone), thief.refused(), "from then on only the owner continues the session")
	owner.send("batch sequence=2 watermark=6")
	assert.EqualValues(t, 2, owner.acked())
}

func TestSequencesWithoutTheirPredecessorAreRefused(t *testing.T) {
	next := outlettest.NewSink()
	r := start(t, outlettest.New(t, nil, next), nil)
	for _, leap := range []string{
		"batch sequence=1000000000 watermark=6", "batch sequence=3 watermark=6", "aggregate sequence=18446744073709551615 watermark=6 from=5 to=6",
	} {
		a := dial(t, r)
		acked := a.greet(hello)
		if acked == 0 {
			a.send("batch sequence=1 watermark=5")
			acked = a.acked()
		}
		assert.EqualValues(t, 1, acked, "a leap does not count")
		a.send(leap)
		refuse := a.refused()
		assert.Equal(t, wire.RefuseBadFrame, refuse.Code)
		kind, rest, _ := strings.Cut(leap, " sequence=")
		number, _, _ := strings.Cut(rest, " ")
		assert.Contains(t, refuse.Message, ": "+kind+": sequence "+number+" follows 1, want 2")
	}
}

// An agent continues where it stopped, also if another receiver has acknowledged batches meanwhile.
func TestAgentsMayReturnFromAnotherReceiver(t *testing.T) {
	next := outlettest.NewSink()
	r := start(t, outlettest.New(t, nil, next), nil)
	a := dial(t, r)
	a.greet(hello)
	a.send("batch sequence=1 watermark=5")
	assert.EqualValues(t, 1, a.acked())
	a = dial(t, r)
	assert.EqualValues(t, 7, a.greet(helloAgain(7)))
	var options wire.Control
	require.NoError(t, a.next(wire.FrameControl).Control(&options))
	assert.Equal(t, []wire.Attribute{{Key: "snapshot", Value: "now"}}, options.Options, "it missed changes of states")
	a.send("batch sequence=8 watermark=9 before=3")
	assert.EqualValues(t, 8, a.acked())
}

func TestSecretsAndHeadersAreNeitherLoggedNorExported(t *testing.T) {
	const private = "Bearer abc"
	next := outlettest.NewSink()
	out := outlettest.New(t, nil, next)
	core, logs := observer.New(zap.DebugLevel)
	out.Log = zap.New(core)
	r := start(t, out, nil)
	for _, text := range []string{hello, wrongHello} {
		a := dial(t, r)
		a.send(strings.TrimSpace(text) + ` headers "authorization"="` + private + `"` + "\nbatch sequence=1 watermark=5\nend time=6 reason=1")
		for _, err := a.reader.Next(); err == nil; _, err = a.reader.Next() {
			continue
		}
	}
	r.stop()
	assert.NotEmpty(t, logs.All())
	for _, entry := range logs.All() {
		text := fmt.Sprint(entry.Message, entry.ContextMap())
		assert.NotContains(t, text, private)
		assert.NotContains(t, text, "0102030405060708")
	}
	marshaler := &ptrace.JSONMarshaler{}
	for range 2 { // the batch and the end
		text, err := marshaler.MarshalTraces(<-next.Got)
		require.NoError(t, err)
		assert.NotContains(t, string(text), private)
		assert.NotContains(t, string(text), "0102030405060708")
	}
}
