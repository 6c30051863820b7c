// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/threadpdata"
	"github.com/weft-otel/weft/internal/wire"
)

// clocks are the steps of the wall clock of a JVM, after it was set or its machine was suspended, in the order of time. The engine does not know
// them: in its time, nothing jumps, so events remain in order, and durations are right.
type clocks []wire.Clock

// maxClocks bounds the steps that are remembered, of which windows and requests that are not over need the last ones.
const maxClocks = 64

// add adds a reading, which carriers repeat. It reports whether it was new.
func (c *clocks) add(read wire.Clock) bool {
	if n := len(*c); n > 0 && (*c)[n-1].Monotonic >= read.Monotonic {
		return false
	}
	if len(*c) == maxClocks {
		*c = (*c)[1:]
	}
	*c = append(*c, read)
	return true
}

// shift returns by how much the wall clock is ahead at a time of the session.
func (c clocks) shift(at jvmthread.Time) jvmthread.Time {
	for _, read := range slices.Backward(c) {
		if int64(at) >= read.Monotonic {
			return jvmthread.Time(read.Wall - read.Monotonic)
		}
	}
	return 0
}

// Shift returns by how much the wall clock of the JVM is ahead of a time of the session. A window has that of its start.
func (s *Session) Shift(at jvmthread.Time) jvmthread.Time { return s.view.analysis.clocks.shift(at) }

// setClock notes a reading, and logs the first one.
func (a *analysis) setClock(read wire.Clock) {
	if read == (wire.Clock{}) || !a.clocks.add(read) || len(a.clocks) > 1 {
		return
	}
	a.analyzer.logger.Warn("The wall clock of a JVM was set, or its machine was suspended; its next windows have the new time of day",
		zap.Stringer("session", a.ID), zap.String("service", threadpdata.ServiceName(a.Resource)),
		zap.Duration("ahead", time.Duration(a.clocks.shift(jvmthread.Time(read.Monotonic)))))
}
