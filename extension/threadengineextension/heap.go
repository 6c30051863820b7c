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
	adjustEvery = 5 * time.Second
)

// heapGrowth adjusts GOGC to the size of the heap until it is stopped.
type heapGrowth struct {
	percent int // of the live heap
	set     func(percent int) (before int)
	live    func() uint64 // bytes that the last collection kept
	stop    context.CancelFunc
	wg      sync.WaitGroup
}

// newHeapGrowth returns nil if percent is 0, or if the user has set GOGC.
func newHeapGrowth(percent int) *heapGrowth {
	if percent == 0 || os.Getenv("GOGC") != "" {
		return nil
	}
	return &heapGrowth{percent: percent, set: debug.SetGCPercent, live: liveHeap}
}

func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
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
