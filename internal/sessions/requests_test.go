// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/internal/engine/requests"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/sessions"
)

// The log says once that the application reports its spans.
func TestFirstSpanIsLogged(t *testing.T) {
	core, logs := observer.New(zapcore.InfoLevel)
	options := sessions.DefaultOptions()
	options.AckWithin = time.Hour
	a := sessions.NewAnalyzer(options, zap.New(core))
	m := a.Join(sessions.MemberSettings{
		Metrics: unmeasured(), Requests: new(requests.Config),
		Follow: func(*sessions.Session) sessions.Follower { return follower{func() {}} },
	})
	said := func() int { return logs.FilterMessageSnippet("reports its current spans").Len() }
	consume(t, m, carrier(1, ""))
	assert.Zero(t, said())
	for batch := range uint64(2) {
		consume(t, m, carrierOf(batch+2, "", jvmthread.Event{
			Kind: jvmthread.KindContext, Thread: 1, Span: jvmthread.SpanContext{TraceID: [16]byte{1}, SpanID: [8]byte{2}},
		}))
	}
	assert.Equal(t, 1, said())
	m.Shutdown(t.Context())
}
