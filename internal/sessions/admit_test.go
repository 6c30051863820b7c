// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	otelclient "go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/sessions"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/wire"
)

// summer is a Follower that counts events.
type summer struct{ events *uint64 }

func (c summer) Window(w *window.Window) { *c.events += w.Events }
func (summer) Advanced()                 {}
func (summer) Closed(window.Cut)         {}
func (summer) Take() sessions.Delivery   { return nil }

// counting returns a member, and what it counts and logs.
func counting(t *testing.T, key string) (m *sessions.Member, events *uint64, log *observer.ObservedLogs) {
	t.Helper()
	core, log := observer.New(zap.WarnLevel)
	options := sessions.DefaultOptions()
	options.AckWithin, options.Carriers.Key = time.Hour, configopaque.String(key)
	a := sessions.NewAnalyzer(options, zap.New(core))
	require.NoError(t, a.Trust())
	events = new(uint64)
	return join(a, 0, func(*sessions.Session) sessions.Follower { return summer{events} }), events, log
}

func fromAddress(t *testing.T, last byte) context.Context {
	t.Helper()
	return otelclient.NewContext(t.Context(), otelclient.Info{Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, last)}})
}

// The log has one line for each session that is refused carriers, and one for all unknown sessions.
func TestRefusedCarriersAreLoggedOnceForEachSession(t *testing.T) {
	key := strings.Repeat("k", 32)
	m, events, log := counting(t, key)
	honest := carrier(1, "")
	require.NoError(t, m.Consume(threadpdata.Direct(t.Context()), honest), "a receiver of this process needs no signature")
	for range 100 {
		consume(t, m, carrier(2, ""))
		stranger := carrier(1, "")
		stranger.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).SetTraceID([16]byte{9})
		consume(t, m, stranger)
	}
	m.Shutdown(t.Context())
	assert.Equal(t, uint64(1), *events)
	assert.Equal(t, 1, log.FilterField(zap.Stringer("session", jvmthread.SessionID{0: 1})).Len())
	assert.Equal(t, 2, log.FilterMessageSnippet("Refused carriers").Len())
}

// A number that is too high is refused. If the session does continue there, because much was lost, it does so once it has been silent.
func TestJumpsAreRefusedUntilASilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, events, log := counting(t, "")
		consume(t, m, carrier(1, ""))
		const far = 1e6
		for n := range uint64(8) { // one a second
			consume(t, m, carrier(far+n, ""))
			time.Sleep(time.Second)
		}
		m.Shutdown(t.Context())
		assert.Equal(t, uint64(4), *events)
		assert.Equal(t, 1, log.FilterMessageSnippet("Refused carriers").FilterField(zap.String("kind", "jump")).Len())
	})
}

// Carriers of a receiver in this process make a session that no other sender can continue.
func TestSessionsOfThisProcessAreItsOwn(t *testing.T) {
	m, events, _ := counting(t, "")
	require.NoError(t, m.Consume(threadpdata.Direct(t.Context()), carrier(1, "")))
	for _, td := range []ptrace.Traces{carrier(2, ""), carrier(3, threadpdata.EndExit)} {
		require.ErrorContains(t, m.Consume(fromAddress(t, 7), td), "another sender has a session")
	}
	consume(t, m, carrier(2, "")) // through a queue
	m.Shutdown(t.Context())
	assert.Equal(t, uint64(2), *events)
}

// The wall clock may be set often; the log says it once.
func TestStepsOfTheClockAreLoggedOnce(t *testing.T) {
	m, _, log := counting(t, "")
	for n := range uint64(200) {
		td := ptrace.NewTraces()
		ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
		threadpdata.MarkCarriers(ss.Scope())
		at := jvmthread.Time(n+1) * 1000
		c := threadpdata.Carrier{Session: jvmthread.SessionID{0: 1}, Batch: n + 1, Watermark: at, Clock: wire.Clock{Monotonic: int64(at), Wall: int64(n) * 1e9}}
		c.AppendTo(ss.Spans(), symbols.New(symbols.DefaultLimits()))
		consume(t, m, td)
	}
	m.Shutdown(t.Context())
	assert.Equal(t, 1, log.FilterMessageSnippet("The wall clock of a JVM was set").Len())
}
