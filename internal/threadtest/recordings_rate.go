// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"syscall"
	"testing"
	"time"
)

// Rate measures how many events a benchmark handles, by the clock and by the time of the processor: on a machine that does other things
// too, only the latter says something.
type Rate struct{ cpu time.Duration }

// StartRate begins to measure.
func StartRate() Rate { return Rate{cpuTime()} }

// Report reports events/s and events/cpu-s.
func (r Rate) Report(b *testing.B, events int) {
	b.Helper()
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	if used := cpuTime() - r.cpu; used > 0 {
		b.ReportMetric(float64(events)/used.Seconds(), "events/cpu-s")
	}
}

// cpuTime is what the process has used so far, its garbage collector included.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
