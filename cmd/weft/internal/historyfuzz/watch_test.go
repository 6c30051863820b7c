// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package historyfuzz

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"testing"
	"time"
)

// Limits of one reader with one history. The time is that of the processor, so that a busy machine does not matter; a reader that waits in
// vain needs none, and has a minute.
const (
	maxTime   = 10 * time.Second
	maxWait   = time.Minute
	maxMemory = 300 << 20 // bytes of heap that the process may take from the system
)

// watched calls read, and ends the process with the stacks of all goroutines if it takes too long.
func watched(t *testing.T, what string, read func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		began, used := time.Now(), processorTime()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if waited, worked := time.Since(began), processorTime()-used; waited > maxWait || worked > maxTime {
				stacks := make([]byte, 1<<20)
				stacks = stacks[:runtime.Stack(stacks, true)]
				fmt.Fprintf(os.Stderr, "%s: no end within %v, with %v of processor time\n\n%s\n", what, waited, worked, stacks)
				os.Exit(2)
			}
		}
	}()
	defer close(done)
	read()
	if got := heap(); got > maxMemory {
		t.Errorf("%s: the heap has grown to %d MiB", what, got>>20)
	}
}

// processorTime returns what this process has used.
func processorTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // cannot fail
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// heap returns the size of the heap at its largest.
func heap() (bytes uint64) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	for i := range samples {
		bytes += samples[i].Value.Uint64()
	}
	return bytes
}

// limitMemory makes the runtime collect garbage before the heap takes more than it may, as in a collector with memory_limit_mib.
func limitMemory() { debug.SetMemoryLimit(maxMemory * 3 / 4) }
