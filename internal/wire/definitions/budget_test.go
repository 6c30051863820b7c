// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package definitions

import (
	"fmt"
	"math/rand/v2"
	"runtime"
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

// heap returns the bytes of live objects.
func heap() int {
	runtime.GC()
	runtime.GC() // the first one may have begun before the last objects died
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// What the budget says is what the heap holds, within 20 %. Maps are between 44 % and 88 % full, so single ones differ more.
func TestBudgetIsTheHeap(t *testing.T) {
	for name, define := range map[string]func(i int) []wire.Frame{
		"classes": func(i int) []wire.Frame {
			return []wire.Frame{classFrame(i, fmt.Sprintf("com.acme.orders.Class%d", i))}
		},
		"long names": func(i int) []wire.Frame {
			return []wire.Frame{classFrame(i, strings.Repeat("n", 1000)+strconv.Itoa(i))}
		},
		"threads":     func(i int) []wire.Frame { return []wire.Frame{threadFrame(i, fmt.Sprintf("http-nio-8080-exec-%d", i))} },
		"far threads": func(i int) []wire.Frame { return []wire.Frame{threadFrame(i<<30, "v")} },
		"methods":     func(i int) []wire.Frame { return []wire.Frame{methodFrame(i, fmt.Sprintf("match%d", i), 12)} },
		"stacks": func(i int) []wire.Frame {
			return []wire.Frame{methodFrame(i, fmt.Sprintf("match%d", i), 12), stackFrame(i, i, i-1, i/2, i/3, 1, 1, 1, 1)}
		},
	} {
		b := budget.New(1 << 30)
		before := heap()
		tables := make([]*Table, 0, 4)
		for _, n := range []int{2_000, 10_000, 25_000, 60_000} {
			d := NewWithin(symbols.New(symbols.DefaultLimits()), b)
			tables = append(tables, d)
			for i := range n {
				for _, f := range define(i + 1) {
					_, err := d.Define(f)
					require.NoError(t, err)
				}
				switch name {
				case "threads":
					d.Described(jvmthread.ThreadID(i+1), 1)
				case "far threads":
					d.Described(jvmthread.ThreadID(i+1)<<30, 1)
				}
			}
		}
		grown := heap() - before
		assert.InEpsilon(t, grown, b.Held(), 0.2, "%s: the heap grew by %d bytes, the budget says %d", name, grown, b.Held())
		runtime.KeepAlive(tables)
	}
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
