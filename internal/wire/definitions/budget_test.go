// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weft-otel/weft/internal/budget"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/jvmthread/symbols"
	"github.com/weft-otel/weft/internal/wire"
)

func frame(kind wire.FrameKind, bytes []byte) wire.Frame {
	return wire.Frame{Kind: kind, Payload: bytes[wire.FrameHeaderSize:]}
}

func classFrame(id int, name string) wire.Frame {
	return frame(wire.FrameClass, wire.AppendClass(nil, wire.Class{ID: jvmthread.ClassID(id), Name: name}))
}

func threadFrame(id int, name string) wire.Frame {
	return frame(wire.FrameThread, wire.AppendThread(nil, jvmthread.Thread{ID: jvmthread.ThreadID(id), Name: name, Group: "main"}))
}

func methodFrame(id int, name string, lines int) wire.Frame {
	m := &wire.Method{ID: wire.MethodID(id), Class: 1, Name: name, Signature: "(Ljava/lang/String;I)V", File: "OrderBook.java", Lines: make([]wire.Line, lines)}
	return frame(wire.FrameMethod, wire.AppendMethod(nil, m))
}

func stackFrame(id int, methods ...int) wire.Frame {
	s := &wire.Stack{ID: jvmthread.StackID(id)}
	for _, m := range methods {
		s.Frames = append(s.Frames, wire.StackFrame{Method: wire.MethodID(m), BCI: 1})
	}
	return frame(wire.FrameStack, wire.AppendStack(nil, s))
}

// Whatever is defined, in whatever order, the budget equals what the table holds, and is enforced before memory is taken.
func TestBudgetIsEnforced(t *testing.T) {
	const limit = 1 << 20
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		b := budget.New(limit)
		d := NewWithin(symbols.New(symbols.DefaultLimits()), b)
		refused := 0
		for range 5_000 {
			id := 1 + random.IntN(1+random.IntN(1<<20))
			name := strings.Repeat("x", random.IntN(200)) + strconv.Itoa(random.IntN(5000))
			var f wire.Frame
			switch random.IntN(8) {
			case 0:
				f = classFrame(id, name)
			case 1, 2:
				f = threadFrame(id<<random.IntN(30), name)
			case 3, 4:
				f = methodFrame(id, name, random.IntN(50))
			case 5:
				f = stackFrame(id, random.IntN(100), id)
			case 6:
				d.Described(jvmthread.ThreadID(id), 1)
				d.DropThread(jvmthread.ThreadID(random.IntN(1 << 20)))
				continue
			default:
				if random.IntN(1000) == 0 {
					d.Reset()
				}
				continue
			}
			no, err := d.Define(f)
			require.NoError(t, err)
			if no {
				refused++
			}
			require.EqualValues(t, d.Held(), b.Held())
			require.LessOrEqual(t, b.Held(), int64(limit))
		}
		assert.Positive(t, refused)
		d.Release()
		assert.Zero(t, b.Held())
	}
}

// An ID costs memory, even if the name is short: two frames must not take 8 MiB.
func TestLargeIDsCount(t *testing.T) {
	b := budget.New(1 << 20)
	d := NewWithin(symbols.New(symbols.DefaultLimits()), b)
	refused, err := d.Define(classFrame(maxID, "x"))
	require.NoError(t, err)
	assert.True(t, refused)
	refused, err = d.Define(stackFrame(maxID, 1))
	require.NoError(t, err)
	assert.True(t, refused)
	assert.Less(t, b.Held(), int64(1<<10))
}
