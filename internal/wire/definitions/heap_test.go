// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package definitions

import (
	"fmt"
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
