// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

package sessions

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/weft-otel/weft/internal/engine/window"
	"github.com/weft-otel/weft/internal/failure"
	"github.com/weft-otel/weft/internal/jvmthread"
	"github.com/weft-otel/weft/internal/origin"
	"github.com/weft-otel/weft/internal/threadpdata"
)

// guard calls do, which works for the session. A panic breaks the session: whoever has it next closes it as failed. guard reports whether there
// was none.
func (e *entry) guard(do func()) bool {
	p := failure.Contain(do)
	switch {
	case p == nil:
		return true
	case e.broken.Swap(true):
		e.set.Logger.Debug("Another panic while a session failed", defect(e.ID, e.Resource, p)...)
	default:
		e.set.Logger.Error("A defect in Weft ended a session; please report it with this line", defect(e.ID, e.Resource, p)...)
		for m := range e.set.instruments {
			if m.Failed != nil {
				m.Failed.Add(context.Background(), 1)
			}
		}
	}
	return false
}

// defect describes a panic in a log.
func defect(id jvmthread.SessionID, res pcommon.Resource, p *failure.Panic) []zap.Field {
	fields := []zap.Field{zap.Stringer("session", id), zap.String("service", threadpdata.ServiceName(res))}
	if pid, ok := res.Attributes().Get("process.pid"); ok {
		fields = append(fields, zap.Int64("pid", pid.Int()))
	}
	return append(fields, zap.String("panic", p.Value), zap.Strings("stack", p.Stack))
}

// orFailed returns why a session ends: it has failed, or the given reason.
func (e *entry) orFailed(why window.Cut) window.Cut {
	if e.broken.Load() {
		return window.CutFailed
	}
	return why
}

// closeFailed closes the handler of a session that has failed, and returns what it has completed. The journal forgets the session once that is
// delivered: what is in it would most likely make the session fail again.
func (e *entry) closeFailed() (out []Delivery) {
	e.guard(func() { e.handler.Close(window.CutFailed) })
	e.guard(func() { out = e.handler.Take() })
	if e.journal != nil {
		out = append(out, func(context.Context) { e.journal.Remove(false) })
	}
	return out
}

// takeSafely takes a carrier. It drops one that makes the decoder panic before its session gets it.
func (s *Set) takeSafely(ctx context.Context, sender origin.Sender, res pcommon.Resource, span ptrace.Span, done *receipt) (err error) {
	if p := failure.Contain(func() { err = s.take(ctx, sender, res, span, done) }); p != nil {
		s.Logger.Error("A defect in Weft made it drop thread events; please report it with this line",
			defect(jvmthread.SessionID(span.TraceID()), res, p)...)
		for m := range s.instruments {
			m.anomaly(ctx, badCarrier, 1)
		}
	}
	return err
}

// fail ends the analysis after a panic. The state of the engines is unknown, so there is no last window.
func (a *analysis) fail() {
	a.failed = true
	for i, v := range a.views {
		v.closed = true
		for j := range v.followers {
			f := &v.followers[j]
			a.entry.guard(func() { v.countFailed(f) })
			if !f.closed {
				a.entry.guard(func() { f.close(window.CutFailed) })
			}
			a.entry.guard(func() { a.take(f) })
		}
		if len(v.followers) > 0 {
			a.entry.guard(func() { v.publish(i == 0) })
		}
	}
}

func (f *following) close(why window.Cut) {
	f.closed = true
	f.Closed(why)
}

// countFailed counts the events that were received and are in no window of a follower.
func (v *view) countFailed(f *following) {
	seen := v.earlier + f.events + v.Engine.Counters().Refused
	add(f.member.Metrics.EventsLost, v.analysis.received-min(seen, v.analysis.received), whereFailed)
}

// CountEvents returns the number of events without gaps.
func CountEvents(events []jvmthread.Event) (n uint64) {
	for i := range events {
		if events[i].Kind != jvmthread.KindGap {
			n++
		}
	}
	return n
}
