// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package threadpdata

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/weft-otel/weft/internal/jvmthread"
)

// shift returns by how much the wall clock is ahead of a time of the session.
func (e *Emitter) shift(at jvmthread.Time) jvmthread.Time {
	if e.Shift == nil {
		return 0
	}
	return e.Shift(at)
}

// move adds to all times of a span. IDs remain: they are made of times of the session, so that links hold and nothing comes twice.
func move(s ptrace.Span, by jvmthread.Time) {
	if by == 0 {
		return
	}
	moved := func(t pcommon.Timestamp) pcommon.Timestamp { return stamp(jvmthread.Time(t) + by) }
	s.SetStartTimestamp(moved(s.StartTimestamp()))
	s.SetEndTimestamp(moved(s.EndTimestamp()))
	for _, ev := range s.Events().All() {
		ev.SetTimestamp(moved(ev.Timestamp()))
	}
	for _, key := range [...]string{attrWindowStart, attrIntervalStart, attrWaitStart} {
		if value, ok := s.Attributes().Get(key); ok {
			value.SetInt(value.Int() + int64(by))
		}
	}
}
