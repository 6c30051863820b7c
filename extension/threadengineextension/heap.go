// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadengineextension

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// The garbage collector lets the heap double by default. Windows and the page consist of large lists without pointers, which cost it next to
// nothing, so collecting more often saves memory for little time. A small heap grows by more, or collections would be too frequent.
const (
	freeGrowth  = 64 << 20 // bytes by which the heap may grow in any case
	usualGrowth = 100      // percent: the default of GOGC
	freeIdle    = 32 << 20 // bytes that the heap may keep without using them
	adjustEvery = 5 * time.Second
)

// heapGrowth adjusts GOGC to the size of the heap until it is stopped, and returns memory that a peak has left.
type heapGrowth struct {
	percent int // of the live heap
	set     func(percent int) (before int)
	live    func() uint64 // bytes that the last collection kept
	idle    func() uint64 // bytes that the heap does not use
	release func()
	stop    context.CancelFunc
	wg      sync.WaitGroup
}

// newHeapGrowth returns nil if percent is 0, or if the user has set GOGC.
func newHeapGrowth(percent int) *heapGrowth {
	if percent == 0 || os.Getenv("GOGC") != "" {
		return nil
	}
	return &heapGrowth{percent: percent, set: debug.SetGCPercent, live: liveHeap, idle: idleHeap, release: debug.FreeOSMemory}
}

func liveHeap() uint64 { return read("/gc/heap/live:bytes") }

func idleHeap() uint64 { return read("/memory/classes/heap/free:bytes") }

// read returns the value of a metric of the runtime, 0 if it has no such metric.
func read(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

// start begins to adjust. It does nothing if h is nil.
func (h *heapGrowth) start() {
	if h == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	h.stop = cancel
	h.wg.Go(func() { h.run(ctx) })
}

func (h *heapGrowth) run(ctx context.Context) {
	current := h.wanted()
	before := h.set(current)
	defer func() { h.set(before) }()
	ticker := time.NewTicker(adjustEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if want := h.wanted(); want != current { // each change stops the world for a moment
				current = want
				h.set(want)
			}
			if h.idle() > freeIdle { // the runtime would take minutes
				h.release()
			}
		}
	}
}

// wanted returns the value of GOGC for the current heap, in steps of a tenth.
func (h *heapGrowth) wanted() int {
	live := max(1, h.live())
	return max(h.percent, min(usualGrowth, int(freeGrowth*100/live)/10*10))
}

// end restores GOGC.
func (h *heapGrowth) end() {
	if h == nil || h.stop == nil {
		return
	}
	h.stop()
	h.wg.Wait()
}
