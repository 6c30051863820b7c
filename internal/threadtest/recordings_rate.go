// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadtest

import (
	"syscall"
	"testing"
	"time"
)

// Rate measures how many events a benchmark handles per second of elapsed time and of CPU time. Only the latter is meaningful on a busy
// machine.
type Rate struct{ cpu time.Duration }

// StartRate starts a measurement.
func StartRate() Rate { return Rate{cpuTime()} }

// Report reports events/s and events/cpu-s.
func (r Rate) Report(b *testing.B, events int) {
	b.Helper()
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
	if used := cpuTime() - r.cpu; used > 0 {
		b.ReportMetric(float64(events)/used.Seconds(), "events/cpu-s")
	}
}

// cpuTime returns the CPU time used by the process so far, including garbage collection.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
