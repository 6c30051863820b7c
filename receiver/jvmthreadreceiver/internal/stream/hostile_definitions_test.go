// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package stream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/wire"
	"github.com/weft-otel/weft/receiver/jvmthreadreceiver/internal/outlet/outlettest"
)

// sumOf returns the value of a counter, 0 if there is none yet.
func sumOf(tb testing.TB, tel *componenttest.Telemetry, name string) int64 {
	tb.Helper()
	m, err := tel.GetMetric(name)
	if err != nil {
		return 0
	}
	return m.Data.(metricdata.Sum[int64]).DataPoints[0].Value
}

// flood defines with several agents at the same time until all of it was read, and returns the bytes that the receiver holds then.
func (h *hostile) flood(agents, frames int, define func(dst []byte, agent, i int) []byte) int64 {
	h.Helper()
	all := make([]*agent, agents)
	h.each(agents, func(n int) {
		a := h.greeted(100 + n)
		all[n] = a
		var b []byte
		for i := range frames {
			if b = define(b, n, i+1); len(b) > 1<<18 || i == frames-1 {
				if _, err := a.conn.Write(b); err != nil {
					h.Errorf("agent %d: %v", n, err)
					return
				}
				b = b[:0]
			}
		}
		a.send("batch sequence=1")
		_ = a.acked()
	})
	held := h.counter("held")
	assert.LessOrEqual(h, held, int64(3*hostileMiB<<20))
	// The honest agent can still name a thread.
	h.lateName <- "late"
	for range outlettest.Patience.Milliseconds() {
		if h.advance(1); h.ledger.knows("late") {
			break
		}
	}
	assert.True(h, h.ledger.knows("late"), "the honest agent has no room for a name")
	return held
}

const refusedBeyond = "refused beyond the common limit, and counted; the others' definitions are accepted"

func definitionAttacks() []attack {
	long := strings.Repeat("x", 60_000)
	return []attack{
		{"definitions flood", "60 agents define 10 MB of classes each, without a batch", overUnix, func(h *hostile) string {
			h.limit = 2 * hostileMiB << 20
			h.flood(60, 10_000, func(dst []byte, _, i int) []byte {
				return wire.AppendClass(dst, wire.Class{ID: jvmthread.ClassID(i), Name: fmt.Sprint(i, long[:1000])})
			})
			assert.Positive(h, h.counter("definitions_refused"))
			return refusedBeyond
		}},
		{"methods flood", "60 agents define 5,000 methods with line tables each", overUnix, func(h *hostile) string {
			lines := make([]wire.Line, 100)
			h.flood(60, 5_000, func(dst []byte, _, i int) []byte {
				return wire.AppendMethod(dst, &wire.Method{ID: wire.MethodID(i), Name: "m", Lines: lines})
			})
			assert.Positive(h, h.counter("definitions_refused"))
			return refusedBeyond
		}},
		{"thread flood", "1,000,000 threads of one agent", overUnix, func(h *hostile) string {
			h.flood(1, 1_000_000, func(dst []byte, _, i int) []byte {
				return wire.AppendThread(dst, jvmthread.Thread{ID: jvmthread.ThreadID(i), Name: "t"})
			})
			assert.Positive(h, h.counter("definitions_refused"))
			return refusedBeyond
		}},
		{"virtual thread flood", "1,000,000 virtual threads of one agent", overUnix, func(h *hostile) string {
			h.flood(1, 1_000_000, func(dst []byte, _, i int) []byte {
				return wire.AppendThread(dst, jvmthread.Thread{ID: jvmthread.ThreadID(i) << 40, Name: "v", Virtual: true})
			})
			return refusedBeyond
		}},
		{"largest ids", "100 agents define one class and one stack, with the id 1,048,576", overUnix, func(h *hostile) string {
			h.flood(100, 1, func(dst []byte, _, _ int) []byte {
				dst = wire.AppendClass(dst, wire.Class{ID: 1 << 20, Name: "x"})
				return wire.AppendStack(dst, &wire.Stack{ID: 1 << 20, Frames: make([]wire.StackFrame, 1)})
			})
			assert.Positive(h, h.counter("definitions_refused"))
			return refusedBeyond
		}},
		{"ids beyond the limit", "classes and stacks with the id 4,294,967,295", overUnix, func(h *hostile) string {
			h.flood(1, 1, func(dst []byte, _, _ int) []byte {
				dst = wire.AppendClass(dst, wire.Class{ID: 1<<32 - 1, Name: "x"})
				return wire.AppendStack(dst, &wire.Stack{ID: 1<<32 - 1})
			})
			assert.EqualValues(h, 2, h.counter("definitions_refused"))
			return "refused and counted"
		}},
		{"deepest stacks", "300 stacks of 65,535 frames, of methods with descriptors of 60 KB", overUnix, func(h *hostile) string {
			method := &wire.Method{ID: 1, Name: "m", Signature: long}
			deep := make([]wire.StackFrame, 65_535)
			for i := range deep {
				deep[i] = wire.StackFrame{Method: 1}
			}
			h.flood(1, fewer(300), func(dst []byte, _, i int) []byte {
				if i == 1 {
					dst = wire.AppendMethod(dst, method)
				}
				return wire.AppendStack(dst, &wire.Stack{ID: jvmthread.StackID(i), Frames: deep})
			})
			return "cut to 1,024 frames and 64 KiB"
		}},
		{"redefinitions", "one method, 100,000 times, with another name each time", overUnix, func(h *hostile) string {
			held := h.flood(1, 100_000, func(dst []byte, _, i int) []byte {
				return wire.AppendMethod(dst, &wire.Method{ID: 1, Name: fmt.Sprint(i, long[:1000])})
			})
			assert.Less(h, held, int64(1<<20))
			return "counts once"
		}},
		{"names that are not UTF-8", "invalid UTF-8, zeros, escapes of terminals", overUnix, func(h *hostile) string {
			a := h.session()
			a.send(`thread id=1 name="\xff\xfe\x00\x1b[2J\x0a" group="\xc0\x80"` + "\nbatch sequence=1\n section thread=1\n  event yield time=1")
			assert.EqualValues(h, 1, a.acked())
			return "replaced by U+FFFD; control characters are kept, as in any data"
		}},
		sends("string beyond its frame", "a name of 65,535 bytes in a frame of 10", framed(10, wire.FrameClass, []byte("\x01\x00\x00\x00\xff\xffabcd"))),
		sends("class 0", "an id of 0", "class id=0 name=\"x\""),
		sends("count of frames that lies", "65,535 frames of a stack in 8 bytes", framed(8, wire.FrameStack, []byte("\x01\x00\x00\x00\x00\x00\xff\xff"))),
		sends("count of lines that lies", "65,535 lines of a method in 16 bytes",
			framed(16, wire.FrameMethod, []byte("\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff"))),
	}
}
