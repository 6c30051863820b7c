// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

//go:build live

package window_test

import (
	"runtime"
	"testing"

	"github.com/weft-otel/weft/internal/engine/window"
)

// What the memory for paths says that it holds is within 20 % of what it takes in the heap.
func TestHeldOfMemoryForPaths(t *testing.T) {
	withWindow(t, 1, 50, 100_000, func(w *window.Window) {
		heap := func() int64 {
			runtime.GC()
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			return int64(stats.HeapAlloc)
		}
		before := heap()
		m := &memory{scratch: window.NewScratch()}
		f := window.NewFinder()
		f.Memory = m
		f.Find(w)
		w.Verdict.FindSlacks()
		w.Verdict.Sites()
		w.Release()
		took, says := heap()-before, int64(m.scratch.Held())
		if took < 1<<20 || says < took*8/10 || says > took*12/10 {
			t.Errorf("takes %d bytes, says %d", took, says)
		}
		runtime.KeepAlive(m)
	})
}
