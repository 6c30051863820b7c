// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/weft-otel/weft/internal/entrance"
	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

// A defect in what handles the frames of an agent ends its connection, with a reason, and no other. The agent connects again and is refused, so
// that it does not make the receiver fail again and again.
func TestDefectEndsOneConnection(t *testing.T) {
	failure.ContainIn(t)
	sink := outlettest.NewSink()
	out := outlettest.New(t, nil, sink)
	core, log := observer.New(zapcore.InfoLevel)
	out.Log = zap.New(core, zap.Hooks(func(e zapcore.Entry) error { // as if the code that logs this had a defect
		if e.Message == "Agent rejected agent_options, or the snapshot for a late receiver" {
			panic("defect")
		}
		return nil
	}))
	board := new(entrance.Board)
	r := startWith(t, Settings{Out: out, Entrance: board, AgentOptions: map[string]string{"depth": "8"}}, nil)
	other := dial(t, r)
	other.greet(helloOf(1))

	a := dial(t, r)
	a.greet(hello)
	a.send("batch sequence=1 watermark=900 before=0\n section thread=1\n  event threadStart time=500\n")
	assert.Equal(t, uint64(1), a.acked())
	assert.Contains(t, sink.Next(t), "threadStart", "what came before")
	a.send(`status id=1 error="no"`)
	assert.Equal(t, wire.Refuse{Code: wire.RefuseBadFrame, Message: defective}, a.refused())
	for range 3 {
		a = dial(t, r)
		a.send(hello)
		assert.Equal(t, wire.Refuse{Code: wire.RefuseLimit, Message: defective}, a.refused())
	}

	other.send("batch sequence=1 watermark=900 before=0\n section thread=1\n  event threadStart time=500\n")
	assert.Equal(t, uint64(1), other.acked())
	errs := log.FilterLevelExact(zapcore.ErrorLevel).All()
	require.Len(t, errs, 1)
	require.Len(t, board.Refusals(), 1, "equal ones are counted")
	assert.Equal(t, remedyDefect, board.Refusals()[0].Remedy)
	fields := errs[0].ContextMap()
	assert.Equal(t, orders.String(), fields["session"])
	assert.Equal(t, "orders", fields["service"])
	assert.EqualValues(t, 42, fields["pid"])
	assert.Equal(t, "defect", fields["panic"])
	assert.NotZero(t, fields["bytes"])
}
