// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"github.com/weft-otel/weft/internal/engine/contention"
	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/jvmthread"
)

// queued writes for how long virtual threads waited for a carrier. There is only one kind of these waits, and no object.
func (s *statement) queued(w *contention.Series[contention.WaitKey, contention.Waits]) {
	for cause, h := range w.Value.Durations {
		if a, ok := s.histogram(metricQueueDuration, &w.Lifetime, h); ok {
			a.PutStr(attrWaitCause, window.Cause(cause).String())
			putText(a, attrPool, s.Text(w.Key.Pool))
		}
	}
}

// pinned writes for how long virtual threads kept their carriers while they waited. These waits are in the other histograms, too.
func (s *statement) pinned() {
	for _, w := range s.Pinned {
		if a, ok := s.histogram(metricPinnedDuration, &w.Lifetime, w.Value.Waited); ok {
			s.putWait(a, &w.Key)
		}
	}
}

// carriers writes what carriers do now, and the longest wait for one. It includes zeros once there was any, so that alerts resolve.
func (s *statement) carriers() {
	always := new(contention.Lifetime)
	if s.HasCarriers {
		for state, n := range s.Threads.Carriers {
			s.put(metricCarrierCount, always, int64(n)).PutStr(attrCarrierState, contention.CarrierState(state).String())
		}
	}
	if s.Seen[jvmthread.StateQueued] {
		s.put(metricQueueLongest, always, int64(s.Threads.Queued))
	}
}
