// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"

	"github.com/weft-otel/weft/internal/threadtest/wiretext"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

func FuzzConnection(f *testing.F) {
	for _, seed := range []string{hello + events, hello + "class id=1 name=\"x\"\nstack id=1 frames=1:0\nend reason=1"} {
		stream, err := wiretext.AppendStream(nil, seed)
		require.NoError(f, err)
		f.Add(stream)
	}
	out := outlettest.New(f, nil, consumertest.NewNop())
	f.Fuzz(func(t *testing.T, stream []byte) {
		s := newSession(&wire.Hello{Session: orders})
		d := s.Definitions
		r := wire.NewReader(bytes.NewReader(stream), wire.MaxFrame)
		for {
			frame, err := r.Next()
			if err != nil {
				return
			}
			switch frame.Kind {
			case wire.FrameThread, wire.FrameClass, wire.FrameMethod, wire.FrameStack:
				_, _ = d.Define(frame) // any answer is right
			case wire.FrameBatch:
				if batch, err := frame.Batch(); err == nil && s.take(frame, &batch) == nil {
					assert.Equal(t, 1, s.Traces(nil).SpanCount())
					require.NoError(t, out.Deliver(t.Context(), s.Session))
				}
			}
		}
	})
}
