// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadengineextension

import (
	"math"
	"os"
	"runtime/debug"

	"github.com/weft-otel/weft/internal/budget"
)

// The runtime collects garbage more often as the process approaches its soft limit. This is below the 80 % of its limit at which memory_limiter
// with default options refuses data: memory_limiter counts garbage, too, and would refuse data although there is enough memory.
const softPercent = 75

// programMiB is what the process takes in addition to what the runtime counts, or before a collection is over: above all, the code of the
// program. It matters for small limits.
const programMiB = 128

// partsPercent is the part of the soft limit that the parts of the process that count what they hold may have together. The rest is for the
// program, other components, garbage, and what the estimates miss.
const partsPercent = 75

const (
	leastMiB = 64
	mostMiB  = 1 << 20
)

// memoryLimit is the soft memory limit of the Go runtime.
type memoryLimit struct {
	bytes  int64
	set    func(bytes int64) (before int64)
	before int64 // once started
}

// newMemoryLimit returns nil if mib is 0, or if the user has set GOMEMLIMIT.
func newMemoryLimit(mib int) *memoryLimit {
	if mib == 0 || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return &memoryLimit{bytes: softLimit(int64(mib)) << 20, set: debug.SetMemoryLimit}
}

// softLimit returns the soft limit for a process limit, in MiB.
func softLimit(mib int64) int64 { return max(mib/2, min(mib*softPercent/100, mib-programMiB)) }

// start sets the limit. It does nothing if m is nil.
func (m *memoryLimit) start() {
	if m != nil {
		m.before = m.set(m.bytes)
	}
}

// end restores the limit of the time before start.
func (m *memoryLimit) end() {
	if m != nil && m.before != 0 {
		m.set(m.before)
	}
}

// limitParts sets the limit of the parts of the process to that of the runtime, if that has one. It returns the limit before.
func limitParts() (before int64) {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return budget.Process.Limit()
	}
	return budget.Process.SetLimit(limit / 100 * partsPercent)
}
